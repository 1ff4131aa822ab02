package io.rdmacomm.tests.stress;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.KeyTable;
import io.rdmacomm.soft.mapped.SharedWords;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// The owner revokes a key and uses its entry for the next key, while a peer looks both up: it finds exactly what each
/// was granted, or nothing, and the first key is gone once the second is there.
@JCStressTest
@Outcome(
        id = {"0, 0", "0, 22", "11, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "what was granted, or nothing")
@Outcome(expect = Expect.FORBIDDEN, desc = "a key opens the memory of the other, or outlives it")
@State
public class KeyTableStress {
    private static final KeyTable TABLE = new KeyTable(SharedRings.FILE);

    private final int first;
    private final int second;

    /// The first key is valid.
    public KeyTableStress() {
        try {
            first = TABLE.allocate();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        second = (first & 0xffff0000) | (first + 1 & 0xffff);
        TABLE.grant(first, KeyTable.REGION, grant(1));
    }

    private static KeyTable.Grant grant(int value) {
        return new KeyTable.Grant(value, value * 10L, 1, 1, 1, 0, 0, 0, 0);
    }

    /// The owner.
    @Actor
    public void owner() {
        TABLE.revoke(first);
        TABLE.grant(second, KeyTable.REGION, grant(2));
    }

    /// A peer that knows both keys.
    @Actor
    public void peer(II_Result result) {
        result.r2 = lookUp(second);
        result.r1 = lookUp(first);
    }

    /// Gives the entry back.
    @Arbiter
    public void end() {
        TABLE.revoke(second);
        TABLE.free(second);
    }

    /// Reads an entry as every peer must: the word, the fields, and the word again.
    private static int lookUp(int key) {
        MemorySegment table = SharedRings.MEMORY;
        long entry = ControlLayout.key(key);
        long valid = KeyTable.word(key, KeyTable.REGION);
        if (SharedWords.acquire(table, entry + ControlLayout.KEY_WORD) != valid) {
            return 0;
        }
        long address = table.get(ValueLayout.JAVA_LONG, entry + ControlLayout.KEY_ADDRESS);
        long length = table.get(ValueLayout.JAVA_LONG, entry + ControlLayout.KEY_LENGTH);
        VarHandle.acquireFence();
        if (SharedWords.opaque(table, entry + ControlLayout.KEY_WORD) != valid) {
            return 0;
        }
        return (int) (address + length);
    }
}
