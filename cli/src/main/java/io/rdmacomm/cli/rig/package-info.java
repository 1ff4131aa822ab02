/// What the programs that measure, check and talk to others stand on: one end of a connection, over verbs or sockets,
/// and frames over a channel.
@NullMarked
package io.rdmacomm.cli.rig;

import org.jspecify.annotations.NullMarked;
