/// The base of all commands: shared options, output, failures, and the processes that commands start.
@NullMarked
package io.rdmacomm.cli.command;

import org.jspecify.annotations.NullMarked;
