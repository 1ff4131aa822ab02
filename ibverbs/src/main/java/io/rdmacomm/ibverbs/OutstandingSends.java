package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SendRequestLayout;
import java.lang.foreign.MemorySegment;

/// The sends of a siw queue pair that have not ended yet; see [LateFlush].
///
/// A request is known by its number and by whether it is a READ: completions say no more, and only READs are
/// overtaken. Silent READs are left out, as nothing tells when they have ended. A READ that is the next to be sent
/// when the connection ends is in two queues of the driver, and flushed from both (`siw_sq_flush`): the second time is
/// not told, unless it may be the end of a silent one.
final class OutstandingSends extends Leftovers {
    private static final byte TOLD = 0;
    private static final byte TOLD_READ = 1;
    private static final byte SILENT = 2;

    private final byte[] kinds;
    private boolean silentReads;

    /// @param lateFlush where they are flushed, for the completion queue of the queue pair's sends
    /// @param depth how many requests the send queue holds
    OutstandingSends(LateFlush lateFlush, int queuePairNumber, int depth) {
        super(lateFlush, queuePairNumber, depth);
        this.kinds = new byte[ids.length];
    }

    /// To be called before requests are posted: another thread may poll their completions at once.
    void add(SendBatch batch, int from, int wanted, boolean signalAll) {
        boolean reads = batch.contains(SendOpcode.READ);
        lock.lock();
        try {
            for (int i = from; i < from + wanted; i++) {
                boolean silent = isSilent(batch, i, signalAll);
                boolean read = reads && isRead(batch, i);
                if (silent && read) {
                    silentReads = true;
                    continue;
                }
                if (count == depth) {
                    // The slot of the oldest was given out again, so it has ended.
                    first = slot(1);
                    count--;
                }
                append(batch, i, silent ? SILENT : read ? TOLD_READ : TOLD);
            }
        } finally {
            lock.unlock();
        }
    }

    /// Takes the last requests back, which were not posted after all.
    void withdraw(SendBatch batch, int from, int wanted, boolean signalAll) {
        if (wanted == 0) {
            return;
        }
        lock.lock();
        try {
            for (int i = from; i < from + wanted && count > 0; i++) {
                count -= isSilent(batch, i, signalAll) && isRead(batch, i) ? 0 : 1;
            }
        } finally {
            lock.unlock();
        }
    }

    /// Adds requests that are posted in ERROR; each of them will be flushed.
    ///
    /// @return how many there was room for
    int addFailed(SendBatch batch, int from, int wanted) {
        int taken;
        lock.lock();
        try {
            taken = Math.min(wanted, depth - count);
            for (int i = from; i < from + taken; i++) {
                append(batch, i, isRead(batch, i) ? TOLD_READ : TOLD);
            }
        } finally {
            lock.unlock();
        }
        announce();
        return taken;
    }

    private void append(SendBatch batch, int index, byte kind) {
        int slot = slot(count++);
        ids[slot] = batch.workId(index);
        kinds[slot] = kind;
    }

    private static boolean isSilent(SendBatch batch, int index, boolean signalAll) {
        return !signalAll && (batch.flags(index) & SendRequestLayout.FLAG_SIGNALED) == 0;
    }

    private static boolean isRead(SendBatch batch, int index) {
        return batch.segment().get(JAVA_INT, batch.at(index) + SendRequestLayout.OPCODE) == SendOpcode.READ.code();
    }

    /// A completion has come.
    ///
    /// @return false if the program was told before that this request ended
    boolean end(long workId, boolean read, boolean success) {
        lock.lock();
        try {
            if (over) {
                return false;
            }
            int found = find(workId, read, success);
            if (found >= 0) {
                remove(found, success);
                return true;
            }
            return success || !read || silentReads;
        } finally {
            lock.unlock();
        }
    }

    private int find(long workId, boolean read, boolean success) {
        for (int i = 0; i < count; i++) {
            byte kind = kinds[slot(i)];
            boolean same = read ? kind == TOLD_READ : kind == TOLD || (kind == SILENT && !success);
            if (same && ids[slot(i)] == workId) {
                return i;
            }
        }
        return -1;
    }

    /// Removes a request and, if it succeeded, what has ended silently before it. What stays moves up.
    private void remove(int index, boolean success) {
        int to = index;
        for (int i = index - 1; i >= 0; i--) {
            if (!success || kinds[slot(i)] != SILENT) {
                ids[slot(to)] = ids[slot(i)];
                kinds[slot(to)] = kinds[slot(i)];
                to--;
            }
        }
        first = slot(to + 1);
        count -= to + 1;
    }

    /// Silent requests may have ended well, and nobody waits for them.
    @Override
    int flush(MemorySegment into, int from, int room) {
        lock.lock();
        try {
            over = true;
            int told = 0;
            for (; count > 0 && told < room; count--) {
                if (kinds[first] != SILENT) {
                    writeFlushed(into, from + told++, ids[first]);
                }
                first = slot(1);
            }
            return told;
        } finally {
            lock.unlock();
        }
    }
}
