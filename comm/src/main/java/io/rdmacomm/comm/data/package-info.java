/// The data path of a channel below its public face: one queue pair, the operations in flight on it, its
/// receives and its credits. It works on addresses and keys, and tells its
/// [io.rdmacomm.comm.data.ChannelEvents] what happens.
@NullMarked
package io.rdmacomm.comm.data;

import org.jspecify.annotations.NullMarked;
