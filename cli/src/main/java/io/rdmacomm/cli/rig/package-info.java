/// The base of the programs that measure or check devices, or talk to C programs: one end of a connection over
/// verbs or sockets, and frames over a channel.
@NullMarked
package io.rdmacomm.cli.rig;

import org.jspecify.annotations.NullMarked;
