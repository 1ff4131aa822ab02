package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.verbs.OperationLock;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SendRequestLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The sends of a siw queue pair that have not ended yet; see [LateFlush].
///
/// Only READs are overtaken: of the READs and of the others, each by themselves, those that were posted first succeed
/// first. So successes are only counted, and what they have ended is looked for when the ring is full or something
/// has failed.
///
/// A request that has failed is known by its number and by whether it is a READ: completions say no more. Silent READs
/// are left out, as nothing tells when they have ended. A READ that is the next to be sent when the connection ends is
/// in two queues of the driver, and flushed from both (`siw_sq_flush`): the second time is not told, unless it may be
/// the end of a silent one.
final class OutstandingSends extends Leftovers {
    private static final byte TOLD = 0;
    private static final byte TOLD_READ = 1;
    private static final byte SILENT = 2;
    private static final byte ENDED = 3;
    private static final VarHandle POSTED;
    private static final VarHandle SUCCEEDED;
    private static final VarHandle SUCCEEDED_READS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            POSTED = lookup.findVarHandle(OutstandingSends.class, "posted", long.class);
            SUCCEEDED = lookup.findVarHandle(OutstandingSends.class, "succeeded", long.class);
            SUCCEEDED_READS = lookup.findVarHandle(OutstandingSends.class, "succeededReads", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final byte[] kinds;
    // Written by who posts, and by nobody else.
    private long posted;
    private volatile boolean silentReads;
    // Written by who polls.
    private long succeeded;
    private long succeededReads;
    /// Guards what follows, and what requests that were posted become.
    private final OperationLock lock = new OperationLock();
    private long settled;
    private long settledReads;
    // The position of the oldest. Read without the lock by who posts, and never moved back.
    private volatile long first;

    /// @param lateFlush where they are flushed, for the completion queue of the queue pair's sends
    /// @param depth how many requests the send queue holds
    OutstandingSends(LateFlush lateFlush, int queuePairNumber, int depth) {
        // Twice the depth: so it is full only after a round of the queue.
        super(lateFlush, queuePairNumber, depth, 2 * depth);
        this.kinds = new byte[ids.length];
    }

    /// To be called before requests are posted: another thread may poll their completions at once.
    void add(SendBatch batch, int from, int wanted, boolean signalAll) {
        boolean reads = batch.contains(SendOpcode.READ);
        long position = posted;
        if (position + wanted - first > ids.length) {
            makeRoom(wanted);
        }
        for (int i = from; i < from + wanted; i++) {
            boolean silent = isSilent(batch, i, signalAll);
            boolean read = reads && isRead(batch, i);
            if (silent && read) {
                silentReads = true;
                continue;
            }
            write(position++, batch, i, silent ? SILENT : read ? TOLD_READ : TOLD);
        }
        POSTED.setRelease(this, position);
    }

    private void makeRoom(int wanted) {
        lock.lock();
        try {
            settle();
            // If that is not enough, the slots of the oldest were given out again, so they have ended.
            first = Math.max(first, posted + wanted - ids.length);
        } finally {
            lock.unlock();
        }
    }

    /// Takes the last requests back, which were not posted after all.
    ///
    /// @return how many of them, the first ones, were told to be flushed before that: they count as posted
    int withdraw(SendBatch batch, int from, int wanted, boolean signalAll) {
        if (wanted == 0) {
            return 0;
        }
        lock.lock();
        try {
            long position = posted;
            int left = wanted;
            for (; left > 0; left--) {
                int last = from + left - 1;
                if (!isSilent(batch, last, signalAll) || !isRead(batch, last)) {
                    if (position == first) {
                        break;
                    }
                    position--;
                }
            }
            POSTED.setRelease(this, position);
            return left;
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
            settle();
            long position = posted;
            taken = Math.clamp(depth - (position - first), 0, wanted);
            for (int i = from; i < from + taken; i++) {
                write(position++, batch, i, isRead(batch, i) ? TOLD_READ : TOLD);
            }
            POSTED.setRelease(this, position);
        } finally {
            lock.unlock();
        }
        announce();
        return taken;
    }

    private void write(long position, SendBatch batch, int index, byte kind) {
        int slot = slot(position);
        ids[slot] = batch.workId(index);
        kinds[slot] = kind;
    }

    private static boolean isSilent(SendBatch batch, int index, boolean signalAll) {
        return !signalAll && (batch.flags(index) & SendRequestLayout.FLAG_SIGNALED) == 0;
    }

    private static boolean isRead(SendBatch batch, int index) {
        return batch.segment().get(JAVA_INT, batch.at(index) + SendRequestLayout.OPCODE) == SendOpcode.READ.code();
    }

    /// The completion of a success has come.
    ///
    /// @return false if the program was told before that this request ended
    boolean endWell(boolean read) {
        if (over) {
            return false;
        }
        if (read) {
            SUCCEEDED_READS.setRelease(this, succeededReads + 1);
        } else {
            SUCCEEDED.setRelease(this, succeeded + 1);
        }
        return true;
    }

    /// The completion of a failure has come.
    ///
    /// @return false if the program was told before that this request ended
    boolean endBadly(long workId, boolean read) {
        if (over) {
            return false;
        }
        lock.lock();
        try {
            settle();
            long end = (long) POSTED.getAcquire(this);
            for (long i = first; i < end; i++) {
                if (ids[slot(i)] == workId && (kinds[slot(i)] == TOLD_READ) == read) {
                    kinds[slot(i)] = ENDED;
                    moveUp(i + 1, true);
                    return true;
                }
            }
            return !read || silentReads;
        } finally {
            lock.unlock();
        }
    }

    /// Removes the requests that have succeeded, and those that have done so silently before them. Under the lock.
    private void settle() {
        long all = (long) SUCCEEDED.getAcquire(this);
        long allReads = (long) SUCCEEDED_READS.getAcquire(this);
        long others = all - settled;
        long reads = allReads - settledReads;
        settled = all;
        settledReads = allReads;
        long end = (long) POSTED.getAcquire(this);
        long i = first;
        for (; i < end && others + reads > 0; i++) {
            byte kind = kinds[slot(i)];
            if (kind == TOLD && others > 0) {
                kinds[slot(i)] = ENDED;
                others--;
            } else if (kind == TOLD_READ && reads > 0) {
                kinds[slot(i)] = ENDED;
                reads--;
            }
        }
        moveUp(i, false);
    }

    /// Closes the gaps before `end` that have ended requests have left.
    private void moveUp(long end, boolean silentToo) {
        long to = end;
        for (long from = end - 1; from >= first; from--) {
            byte kind = kinds[slot(from)];
            if (kind != ENDED && (silentToo || kind != SILENT)) {
                to--;
                ids[slot(to)] = ids[slot(from)];
                kinds[slot(to)] = kind;
            }
        }
        first = to;
    }

    @Override
    boolean isEmpty() {
        lock.lock();
        try {
            settle();
            return first == (long) POSTED.getAcquire(this);
        } finally {
            lock.unlock();
        }
    }

    /// Silent requests may have ended well, and nobody waits for them.
    @Override
    int flush(MemorySegment into, int from, int room) {
        lock.lock();
        try {
            over = true;
            settle();
            long end = (long) POSTED.getAcquire(this);
            long position = first;
            int told = 0;
            for (; position < end && told < room; position++) {
                if (kinds[slot(position)] != SILENT) {
                    writeFlushed(into, from + told++, ids[slot(position)]);
                }
            }
            first = position;
            return told;
        } finally {
            lock.unlock();
        }
    }
}
