package io.rdmacomm.ibverbs;

import io.rdmacomm.ibverbs.ffm.LibIbverbs;

/// A completion queue that nobody uses, for the place where siw's library lets no queue begin.
///
/// The kernel maps the queues of a context one behind the other, at the lowest offset that is free from 0 on
/// (`siw_mmap_entry_insert`), and libsiw takes the offset 0x90000 (`SIW_INVAL_UOBJ_KEY`) for a failure. What
/// should begin there is given up, and so is every further attempt: 55 queue pairs beside a completion queue of
/// 4096, and no more. So the first queue of a context covers the place, as long as the context is open.
final class SiwPlaceholder {
    private static final int RESERVED_OFFSET = 0x90000;
    private static final int COMPLETION_BYTES = 32;
    /// As the first it lies at 0, and its last completion behind the reserved offset; the kernel makes 1 MiB of
    /// it.
    private static final int CAPACITY = RESERVED_OFFSET / COMPLETION_BYTES + 1;

    private final LibIbverbs library;
    private final long context;
    private long queue;

    /// For the context whose struct is at `context`.
    SiwPlaceholder(LibIbverbs library, long context) {
        this.library = library;
        this.context = context;
    }

    /// To be called before a queue is created, with the name of the context.
    synchronized void occupy(String subject) {
        if (queue == 0) {
            queue = IbvFailure.address(
                    "create completion queue (ibv_create_cq)",
                    library.createCompletionQueue(context, CAPACITY, 0, 0),
                    "the placeholder of " + subject);
        }
    }

    /// To be called before the context is closed, when it has no other queues any more.
    synchronized void release(String subject) {
        if (queue != 0) {
            IbvFailure.check(
                    "destroy completion queue (ibv_destroy_cq)",
                    library.destroyCompletionQueue(queue),
                    "the placeholder of " + subject);
            queue = 0;
        }
    }
}
