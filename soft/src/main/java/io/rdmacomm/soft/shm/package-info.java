/// Transport over shared memory, for peers on this host: the initiator of an operation carries it out on memory that
/// both processes map. Control connections carry wake-ups, and their end announces that a peer may have died.
@NullMarked
package io.rdmacomm.soft.shm;

import org.jspecify.annotations.NullMarked;
