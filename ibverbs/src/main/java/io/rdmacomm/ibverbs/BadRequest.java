package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Where a driver says which request of a chain it did not take (`bad_wr` of ibv_post_send(3)). One for each
/// queue, used under the queue's lock.
final class BadRequest implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment slot = arena.allocate(JAVA_LONG);
    private final long address = slot.address();

    /// The address for C.
    long address() {
        return address;
    }

    /// How many requests were taken when posting failed.
    ///
    /// @param result what the driver returned: an errno, positive or, with some drivers, negative
    /// @param start the address of the first request of the chain
    /// @param each the size of a request
    /// @param count how many requests the chain has
    /// @throws RdmaException if none was taken, for another reason than a full queue
    int taken(String operation, int result, long start, int each, int count, Object queue) {
        long bad = slot.get(JAVA_LONG, 0);
        slot.set(JAVA_LONG, 0, 0);
        int errno = Math.abs(result);
        if (bad == 0) {
            // rxe: all of them are in the queue, but the doorbell failed. They may be carried out at any time.
            throw IbvFailure.of(operation, errno, queue + " has the requests, but its device does not begin them");
        }
        long index = (bad - start) / each;
        if (index < 0 || index >= count) {
            throw IbvFailure.of(operation, errno, queue + " failed on a request that was not posted");
        }
        // What was taken before the bad one will complete; the caller comes again from there, and is told then.
        if (index > 0 || Errno.of(errno) == Errno.ENOMEM) {
            return (int) index;
        }
        throw IbvFailure.of(operation, errno, "the first request that " + queue + " did not take");
    }

    @Override
    public void close() {
        arena.close();
    }
}
