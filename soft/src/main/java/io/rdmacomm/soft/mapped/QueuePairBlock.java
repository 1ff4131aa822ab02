package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairState;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/// A queue pair's block in the control file, which shows its peer the state, the rights and the rings.
public final class QueuePairBlock {
    private static final int SPINS = 1_000;
    private static final long PARK_NANOS = 20_000;

    private static final int CONNECTION_SHIFT = 40;
    private static final int STATE_MASK = 0xff;

    private static final VarHandle EXECUTING;

    static {
        try {
            EXECUTING = MethodHandles.lookup().findVarHandle(QueuePairBlock.class, "executing", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemorySegment memory;
    private final long block;
    private final int number;
    private long connection;
    /// Odd while operations are in flight. Peers see a copy in the shared memory, which any of them can overwrite.
    private long executing;

    /// A zeroed block for the queue pair with this number.
    ///
    /// @throws IOException if there is no room
    public QueuePairBlock(ControlFile control, int number, int domain, long receiveRing, long receiveCompletions)
            throws IOException {
        this.memory = control.memory();
        this.block = ControlLayout.queuePair(number);
        this.number = number;
        control.reserve(block, ControlLayout.QUEUE_PAIR_BYTES);
        memory.asSlice(block, ControlLayout.QUEUE_PAIR_BYTES).fill((byte) 0);
        memory.set(JAVA_INT, block + ControlLayout.QP_DOMAIN, domain);
        memory.set(JAVA_LONG, block + ControlLayout.QP_RECEIVE_RING, receiveRing);
        memory.set(JAVA_LONG, block + ControlLayout.QP_RECEIVE_COMPLETIONS, receiveCompletions);
        publish(QueuePairState.RESET);
    }

    public MemorySegment memory() {
        return memory;
    }

    long offset() {
        return block;
    }

    /// Where in the file a producer notes the completion slot that it fills.
    public long completionJournal() {
        return block + ControlLayout.QP_JOURNAL_COMPLETION;
    }

    /// Publishes the state; the peer sees it before anything that this side reads afterwards.
    public void publish(QueuePairState state) {
        if (state == QueuePairState.RESET) {
            connection++;
        }
        SharedWords.publish(
                memory,
                block + ControlLayout.QP_IDENTITY,
                connection << CONNECTION_SHIFT | (long) state.code() << Integer.SIZE | Integer.toUnsignedLong(number));
    }

    /// Marks the block as unused.
    public void withdraw() {
        SharedWords.publish(memory, block + ControlLayout.QP_IDENTITY, 0);
    }

    public void rights(int accessFlags, int rnrTimer) {
        memory.set(JAVA_INT, block + ControlLayout.QP_ACCESS, accessFlags);
        memory.set(JAVA_INT, block + ControlLayout.QP_RNR_TIMER, rnrTimer);
    }

    /// The access rights of the peer.
    public int access() {
        return memory.get(JAVA_INT, block + ControlLayout.QP_ACCESS);
    }

    /// The code of the receiver-not-ready timer.
    public int rnrTimer() {
        return memory.get(JAVA_INT, block + ControlLayout.QP_RNR_TIMER);
    }

    public void destination(Gid gid, int lid, int peerNumber, int receivePsn) {
        memory.set(JAVA_INT, block + ControlLayout.QP_DESTINATION, peerNumber);
        memory.set(JAVA_INT, block + ControlLayout.QP_RECEIVE_PSN, receivePsn);
        memory.set(JAVA_LONG, block + ControlLayout.QP_GID_HIGH, gid.high());
        memory.set(JAVA_LONG, block + ControlLayout.QP_GID_LOW, gid.low());
        memory.set(JAVA_INT, block + ControlLayout.QP_LID, lid);
    }

    /// Publishes whether this side reaches its destination over shared memory. The peer's queue pair does so
    /// only if both do.
    public void onHost(boolean chosen) {
        SharedWords.publishInt(memory, block + ControlLayout.QP_ON_HOST, chosen ? 1 : 0);
    }

    /// Whether the owner of a block has chosen shared memory.
    public static boolean isOnHost(MemorySegment memory, long block) {
        return SharedWords.acquireInt(memory, block + ControlLayout.QP_ON_HOST) == 1;
    }

    /// Operations on memory of the peer, and of this side, begin: see [#awaitIdle]. One thread at a time.
    public void beginExecuting() {
        long now = executing + 1;
        EXECUTING.setOpaque(this, now);
        SharedWords.publish(memory, block + ControlLayout.QP_EXECUTING, now);
    }

    /// The operations have ended. May be called twice, because an exception may come before or after the first call.
    public void endExecuting() {
        long now = (executing | 1) + 1;
        EXECUTING.setRelease(this, now);
        SharedWords.release(memory, block + ControlLayout.QP_EXECUTING, now);
    }

    /// Waits until the operations that are in flight here have ended. Without a deadline: threads of this process
    /// stop and resume together, and an operation in flight waits for nothing.
    public void awaitIdle() {
        // As in executing(MemorySegment, long), for the count that no other process can write.
        VarHandle.fullFence();
        long seen = (long) EXECUTING.getAcquire(this);
        for (int spins = 0; (seen & 1) != 0 && (long) EXECUTING.getAcquire(this) == seen; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
    }

    /// The value of the counter in a block whose owner, perhaps another process, is in the middle of an operation. It
    /// is odd while the owner carries operations out, which takes as long as copying takes. A peer that was stopped
    /// in the middle of an operation may resume and write to the memory, so its pages must not be freed.
    ///
    /// @return 0 if it is in none
    /// @throws InternalError if the file was truncated
    public static long executing(MemorySegment memory, long block) {
        // Operations that begin after the counter was read must see everything that the caller has published.
        VarHandle.fullFence();
        long seen = SharedWords.acquire(memory, block + ControlLayout.QP_EXECUTING);
        SharedWords.throwFault();
        return (seen & 1) == 0 ? 0 : seen;
    }

    /// Whether the queue pair with this number of the owner of a control file exists and accepts messages.
    public static boolean accepts(MemorySegment memory, int number) {
        long block = ControlLayout.queuePair(number);
        return isReady(SharedWords.acquire(memory, block + ControlLayout.QP_IDENTITY), number);
    }

    /// Whether the identity of a block is that of the queue pair with this number, in a state that accepts messages.
    public static boolean isReady(long identity, int number) {
        int state = state(identity);
        return (int) identity == number
                && state >= QueuePairState.READY_TO_RECEIVE.code()
                && state <= QueuePairState.SEND_QUEUE_DRAIN.code();
    }

    /// The code of the state in an identity.
    public static int state(long identity) {
        return (int) (identity >>> Integer.SIZE) & STATE_MASK;
    }

    /// The number of the connection in an identity: how often the queue pair was in RESET. A peer that does not
    /// know that it was, must not go on.
    public static long connection(long identity) {
        return identity >>> CONNECTION_SHIFT;
    }

    /// Notes which receive of the peer is being filled, so that the peer can flush it if this process dies.
    public void openJournal(long position, long workId) {
        memory.set(JAVA_LONG, block + ControlLayout.QP_JOURNAL_WORK_ID, workId);
        memory.set(JAVA_LONG, block + ControlLayout.QP_JOURNAL_COMPLETION, 0);
        SharedWords.release(memory, block + ControlLayout.QP_JOURNAL_RECEIVE, position + 1);
    }

    /// Claims the receive for its completion without payload. Not needed while this side executes without a pause.
    ///
    /// @return false if the peer has taken the receive back meanwhile, and flushed it
    public boolean claimJournal() {
        long at = block + ControlLayout.QP_JOURNAL_RECEIVE;
        long receive = SharedWords.acquire(memory, at);
        return receive > 0 && SharedWords.compareAndSet(memory, at, receive, -receive);
    }

    /// Takes back the receive at `position`, which the owner of a block has taken, and not filled yet.
    ///
    /// @param dead whether the owner has ended, so that its claim no longer counts
    /// @return false if the owner has completed it, or is about to
    public static boolean takeBack(MemorySegment memory, long block, long position, boolean dead) {
        long at = block + ControlLayout.QP_JOURNAL_RECEIVE;
        return SharedWords.compareAndSet(memory, at, position + 1, 0)
                || (dead && SharedWords.compareAndSet(memory, at, -(position + 1), 0));
    }

    /// The position of the receive that the owner of a block has taken and not completed; -1 if there is none.
    public static long taken(MemorySegment memory, long block) {
        return Math.abs(SharedWords.acquire(memory, block + ControlLayout.QP_JOURNAL_RECEIVE)) - 1;
    }

    /// Clears the journal: the receive was completed, or not taken.
    public void closeJournal() {
        SharedWords.release(memory, block + ControlLayout.QP_JOURNAL_RECEIVE, 0);
    }
}
