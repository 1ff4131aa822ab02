package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.shm.ControlFile;
import io.rdmacomm.soft.shm.ControlLayout;
import io.rdmacomm.soft.shm.SharedWords;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairState;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// What a queue pair shows of itself to its peer: its block in the control file.
final class OwnBlock {
    private final MemorySegment memory;
    private final long block;
    private final int number;

    /// A zeroed block for the queue pair with this number.
    ///
    /// @throws IOException if there is no room
    OwnBlock(ControlFile control, int number, int domain, long receiveRing, long receiveCompletions)
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

    MemorySegment memory() {
        return memory;
    }

    long offset() {
        return block;
    }

    /// Where in the file a producer notes the completion slot that it fills.
    long completionJournal() {
        return block + ControlLayout.QP_JOURNAL_COMPLETION;
    }

    /// Shows the state; seen by the peer before anything that is read afterwards.
    void publish(QueuePairState state) {
        SharedWords.publish(
                memory,
                block + ControlLayout.QP_IDENTITY,
                ((long) state.code() << 32) | Integer.toUnsignedLong(number));
    }

    /// There is no queue pair here any more.
    void withdraw() {
        SharedWords.publish(memory, block + ControlLayout.QP_IDENTITY, 0);
    }

    void rights(int accessFlags, int rnrTimer) {
        memory.set(JAVA_INT, block + ControlLayout.QP_ACCESS, accessFlags);
        memory.set(JAVA_INT, block + ControlLayout.QP_RNR_TIMER, rnrTimer);
    }

    /// What the peer may do.
    int access() {
        return memory.get(JAVA_INT, block + ControlLayout.QP_ACCESS);
    }

    /// The code of the receiver-not-ready timer.
    int rnrTimer() {
        return memory.get(JAVA_INT, block + ControlLayout.QP_RNR_TIMER);
    }

    void destination(Gid gid, int lid, int peerNumber, int receivePsn) {
        memory.set(JAVA_INT, block + ControlLayout.QP_DESTINATION, peerNumber);
        memory.set(JAVA_INT, block + ControlLayout.QP_RECEIVE_PSN, receivePsn);
        memory.set(JAVA_LONG, block + ControlLayout.QP_GID_HIGH, gid.high());
        memory.set(JAVA_LONG, block + ControlLayout.QP_GID_LOW, gid.low());
        memory.set(JAVA_INT, block + ControlLayout.QP_LID, lid);
    }

    /// Operations on memory of the peer, and of this side, begin: see [Executions].
    void beginExecuting() {
        long at = block + ControlLayout.QP_EXECUTING;
        SharedWords.publish(memory, at, SharedWords.opaque(memory, at) + 1);
    }

    /// They have ended.
    void endExecuting() {
        long at = block + ControlLayout.QP_EXECUTING;
        SharedWords.release(memory, at, SharedWords.opaque(memory, at) + 1);
    }

    /// Notes which receive of the peer is being filled, so that the peer can flush it should this process die.
    void openJournal(long position, long workId) {
        memory.set(JAVA_LONG, block + ControlLayout.QP_JOURNAL_WORK_ID, workId);
        memory.set(JAVA_LONG, block + ControlLayout.QP_JOURNAL_COMPLETION, 0);
        SharedWords.release(memory, block + ControlLayout.QP_JOURNAL_RECEIVE, position + 1);
    }

    /// It was completed, or not taken after all.
    void closeJournal() {
        SharedWords.release(memory, block + ControlLayout.QP_JOURNAL_RECEIVE, 0);
    }
}
