/// What all commands share: their base and options, how they print and fail, and the processes that they start.
@NullMarked
package io.rdmacomm.cli.command;

import org.jspecify.annotations.NullMarked;
