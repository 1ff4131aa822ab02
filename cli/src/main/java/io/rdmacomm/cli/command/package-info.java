/// The parts that all commands share: their base, the version, the environment and the log level.
@NullMarked
package io.rdmacomm.cli.command;

import org.jspecify.annotations.NullMarked;
