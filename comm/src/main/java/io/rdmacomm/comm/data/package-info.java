/// The data path of a channel below its public API: one queue pair, the operations in flight on it, its
/// receives and its credits. It works on addresses and keys, and reports to its
/// [io.rdmacomm.comm.data.ChannelEvents].
@NullMarked
package io.rdmacomm.comm.data;

import org.jspecify.annotations.NullMarked;
