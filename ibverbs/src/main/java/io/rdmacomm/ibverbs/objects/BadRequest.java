package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.spi.RequestChain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The slot where a driver reports the first request of a chain that it rejected (`bad_wr` of ibv_post_send(3)).
/// One for each queue, used under the queue's lock.
final class BadRequest implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment slot = arena.allocate(JAVA_LONG);
    private final long address = slot.address();

    /// The address for C.
    long address() {
        return address;
    }

    /// Whether the driver reported none, so that all requests are in its queue although posting failed.
    boolean isNone() {
        return slot.get(JAVA_LONG, 0) == 0;
    }

    /// The number of requests that were accepted when posting failed.
    ///
    /// @param result what the driver returned: an errno, positive or, with some drivers, negative
    /// @param first the first request of the chain that was posted
    /// @param count how many were posted
    /// @throws WorkRequestException if none was accepted, for another reason than a full queue
    /// @throws VerbException if the driver does not report which request it rejected
    int taken(String operation, int result, RequestChain requests, int first, int count, Object queue) {
        long bad = slot.get(JAVA_LONG, 0);
        slot.set(JAVA_LONG, 0, 0);
        int errno = Math.abs(result);
        if (bad == 0) {
            // All of them are in the queue, but the doorbell failed. The device may still execute them at any time.
            throw IbvFailure.of(operation, errno, queue + " has the requests, but its device does not begin them");
        }
        long index = (bad - requests.segment().address() - requests.at(first)) / requests.at(1);
        if (index < 0 || index >= count) {
            throw IbvFailure.of(operation, errno, queue + " failed on a request that was not posted");
        }
        // The requests before the bad one will complete. The caller then posts the rest again, and gets the error.
        if (index > 0 || Errno.of(errno) == Errno.ENOMEM) {
            return (int) index;
        }
        throw new WorkRequestException(
                operation, Errno.of(errno), first, "the device of " + queue + " rejected it (errno " + errno + ")");
    }

    @Override
    public void close() {
        arena.close();
    }
}
