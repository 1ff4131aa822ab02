/// Sockets of programs that measure: how they wait, and for how long.
@NullMarked
package io.rdmacomm.cli.socket;

import org.jspecify.annotations.NullMarked;
