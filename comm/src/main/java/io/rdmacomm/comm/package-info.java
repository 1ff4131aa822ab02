/// Sessions, endpoints, channels and named buffers: two processes exchange messages and memory without seeing
/// a queue pair. Start with [io.rdmacomm.comm.ServerSession], [io.rdmacomm.comm.ClientSession] and
/// [io.rdmacomm.comm.RdmaChannel].
@NullMarked
package io.rdmacomm.comm;

import org.jspecify.annotations.NullMarked;
