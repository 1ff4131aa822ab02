package io.rdmacomm.tests.stress;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.KeyTable;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.SharedWords;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// The owner of memory revokes its key, waits until the peer is idle, and uses the memory for something else, while the
/// peer begins to execute, looks the key up, and writes: the write comes before the new use, or not at all.
@JCStressTest
@Outcome(id = "0, 5", expect = Expect.ACCEPTABLE, desc = "the key was gone already")
@Outcome(id = "1, 5", expect = Expect.ACCEPTABLE, desc = "written while it was allowed")
@Outcome(expect = Expect.FORBIDDEN, desc = "written after the end, or not seen")
@State
public class RevokeAndBeginStress {
    private static final KeyTable TABLE = new KeyTable(SharedRings.FILE);
    private static final int NUMBER = 1;
    // One for all attempts: only the peer's thread changes it.
    private static final QueuePairBlock BLOCK = block();

    private final int key;
    private int memory;

    /// The key is valid.
    public RevokeAndBeginStress() {
        try {
            key = TABLE.allocate();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        TABLE.grant(key, KeyTable.REGION, new KeyTable.Grant(0, 1, 1, 1, 1, key, 0, 0, key));
    }

    private static QueuePairBlock block() {
        try {
            return new QueuePairBlock(SharedRings.FILE, NUMBER, 1, 0, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The peer.
    @Actor
    public void peer() {
        BLOCK.beginExecuting();
        long entry = ControlLayout.key(key);
        if (SharedWords.acquire(SharedRings.MEMORY, entry + ControlLayout.KEY_WORD)
                == KeyTable.word(key, KeyTable.REGION)) {
            memory = 1;
        }
        BLOCK.endExecuting();
    }

    /// The owner.
    @Actor
    public void owner(II_Result result) {
        TABLE.revoke(key);
        long block = ControlLayout.queuePair(NUMBER);
        long seen = QueuePairBlock.executing(SharedRings.MEMORY, block);
        while (seen != 0 && QueuePairBlock.executing(SharedRings.MEMORY, block) == seen) {
            Thread.onSpinWait();
        }
        result.r1 = memory;
        memory = 5;
    }

    /// Gives the entry back.
    @Arbiter
    public void end(II_Result result) {
        result.r2 = memory;
        TABLE.free(key);
    }
}
