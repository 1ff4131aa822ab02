/// Executes the requests of a peer on the network: the rights of the queue pair, keys, receives, placement, atomic
/// operations and invalidation. The same for every wire protocol; each has its own answers to faults.
@NullMarked
package io.rdmacomm.soft.execution;

import org.jspecify.annotations.NullMarked;
