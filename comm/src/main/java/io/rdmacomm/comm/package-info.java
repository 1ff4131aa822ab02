/// Sessions, endpoints, channels and named buffers: two processes exchange messages and memory without seeing
/// a queue pair. Start with [io.rdmacomm.comm.ServerSession], [io.rdmacomm.comm.ClientSession] and
/// [io.rdmacomm.comm.RdmaChannel].
///
/// ## How it changes
/// Version 1.0 freezes this package. It then changes as [io.rdmacomm.verbs] does: later versions may add constants
/// of enums, methods of classes and interfaces (with defaults), subclasses of [io.rdmacomm.verbs.RdmaException],
/// and options whose defaults change nothing. The protocol between two sessions has its own versions; the peers
/// agree on one.
@NullMarked
package io.rdmacomm.comm;

import org.jspecify.annotations.NullMarked;
