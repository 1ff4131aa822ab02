package io.rdmacomm.ibverbs.siw;

import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.ibverbs.structs.IbvFailure;

/// An unused completion queue that covers the one offset where libsiw cannot place a queue (decision 16).
///
/// The kernel maps the queues of a context one after another, at the lowest free offset from 0 on
/// (`siw_mmap_entry_insert`), and libsiw takes the offset 0x90000 (`SIW_INVAL_UOBJ_KEY`) for a failure. A queue
/// that would begin there cannot be created, nor any later one: beside a completion queue of 4096, only 55 queue
/// pairs fit. So the first queue of a context covers that offset while the context is open.
final class SiwPlaceholder {
    private static final int RESERVED_OFFSET = 0x90000;
    private static final int COMPLETION_BYTES = 32;
    /// The first queue begins at 0, and must end after the reserved offset; the kernel rounds it up to 1 MiB.
    private static final int CAPACITY = RESERVED_OFFSET / COMPLETION_BYTES + 1;

    private long queue;

    /// Call it before any other queue is created.
    synchronized void occupy(NativeContext device) {
        if (queue == 0) {
            queue = IbvFailure.address(
                    "create completion queue (ibv_create_cq)",
                    device.library().createCompletionQueue(device.address(), CAPACITY, 0, 0),
                    "the placeholder of " + device);
        }
    }

    /// Call it before the context is closed, when all other queues are destroyed.
    synchronized void release(NativeContext device) {
        if (queue != 0) {
            IbvFailure.check(
                    "destroy completion queue (ibv_destroy_cq)",
                    device.library().destroyCompletionQueue(queue),
                    "the placeholder of " + device);
            queue = 0;
        }
    }
}
