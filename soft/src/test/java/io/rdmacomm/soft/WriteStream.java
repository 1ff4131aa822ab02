package io.rdmacomm.soft;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;

/// WRITEs from one context to another over a connection of their own, a window of them in flight. Allocates nothing
/// once it is made. One thread at a time.
final class WriteStream {
    static final int WINDOW = 4;

    private final CompletionQueue queue;
    private final QueuePair pair;
    private final Completions room;
    private final SendBatch write;
    private long posted;
    private long done;

    /// @param target the completion queue of the other end
    WriteStream(Arena arena, ProtectionDomain here, ProtectionDomain there, CompletionQueue target, int bytes) {
        queue = here.context().createCompletionQueue(CompletionQueueOptions.ofCapacity(WINDOW));
        pair = here.createQueuePair(QueuePairOptions.reliable(queue));
        QueuePair peer = there.createQueuePair(QueuePairOptions.reliable(target));
        pair.connect(peer.info(), ConnectionOptions.defaults());
        peer.connect(pair.info(), ConnectionOptions.defaults());
        MemoryRegion from = here.allocate(bytes, AccessFlag.allRemote());
        MemoryRegion to = there.allocate(bytes, AccessFlag.allRemote());
        write = SendBatch.create(arena, 1, 1)
                .write(1, to.remote())
                .with(from, 0, bytes)
                .signaled();
        room = Completions.create(arena, WINDOW);
    }

    /// The number of WRITEs that have ended.
    long done() {
        return done;
    }

    /// Has so many more end, in time or not at all.
    ///
    /// @param deadline in the time of [System#nanoTime()]
    void write(int count, long deadline) {
        long wanted = done + count;
        while (done < wanted) {
            post((int) Math.min(WINDOW, wanted - done));
            int found = queue.poll(room);
            for (int i = 0; i < found; i++) {
                if (!room.isSuccess(i)) {
                    throw new AssertionError("status " + room.statusCode(i));
                }
            }
            done += found;
            if (System.nanoTime() - deadline >= 0) {
                throw new AssertionError(done + " WRITEs have ended in time, " + wanted + " were to");
            }
        }
    }

    /// Posts until so many are in flight.
    void post(int most) {
        while (posted - done < most) {
            if (pair.post(write) != 1) {
                throw new AssertionError("no room for a WRITE, with " + (posted - done) + " in flight");
            }
            posted++;
        }
    }
}
