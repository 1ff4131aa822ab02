package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.MappedFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.QueuePair;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Reads and writes the control file of a context as any process of the same user can: it has mapped the file itself.
/// The layouts are drawn at `ControlLayout`, `CompletionRing` and `ReceiveRing`.
final class ForeignHand implements AutoCloseable {
    private final MappedFile file;
    private final MemorySegment memory;

    ForeignHand(Context owner) {
        try {
            file = MappedFile.open(ShmDirectory.folder(Soft.of(owner).lid()).resolve(ControlFile.NAME));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        memory = file.segment();
    }

    long get(long at) {
        return memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
    }

    void set(long at, long value) {
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
    }

    void setInt(long at, int value) {
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, value);
    }

    long block(QueuePair pair) {
        return ControlLayout.queuePair(pair.number());
    }

    long receives(QueuePair pair) {
        return get(block(pair) + ControlLayout.QP_RECEIVE_RING);
    }

    long completions(QueuePair pair) {
        return get(block(pair) + ControlLayout.QP_RECEIVE_COMPLETIONS);
    }

    /// The ring of a queue pair's completion queue for receives.
    long ring(QueuePair pair) {
        return get(completions(pair));
    }

    /// The slot at the tail of that ring.
    long slotAtTail(QueuePair pair) {
        return ring(pair) + 128 + (get(ring(pair) + 64) & get(ring(pair))) * 64;
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
