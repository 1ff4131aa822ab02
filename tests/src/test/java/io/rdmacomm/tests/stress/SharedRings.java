package io.rdmacomm.tests.stress;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.verbs.spi.CompletionLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The shared memory in which the tests have their rings: one control file for the whole run. An arbiter frees the ring
/// of its state, because jcstress makes a new state for every attempt.
final class SharedRings {
    static final int LID = 3;
    static final ControlFile FILE = create();
    static final MemorySegment MEMORY = FILE.memory();

    private SharedRings() {}

    private static ControlFile create() {
        try {
            ShmDirectory directory = ShmDirectory.claim();
            ControlFile file = ControlFile.create(directory, 1, 2);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(file, directory)));
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void remove(ControlFile file, ShmDirectory directory) {
        try {
            file.close();
            directory.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static CompletionRing completions(int capacity, boolean hasChannel) {
        try {
            return CompletionRing.create(FILE, capacity, 7, hasChannel);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void resize(CompletionRing ring, int capacity) {
        try {
            if (!ring.resize(capacity)) {
                throw new IllegalStateException("more completions than " + capacity);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ReceiveRing receives(int depth) {
        try {
            return ReceiveRing.create(FILE, depth, 1, 0, 1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static CompletionProducer producer(CompletionRing ring) {
        return ring.producer(LID);
    }

    static long push(CompletionRing ring, long workId) {
        return push(producer(ring), workId);
    }

    static long push(CompletionProducer producer, long workId) {
        CompletionFields fields = new CompletionFields();
        fields.set(workId, 0, 0, 0, 1);
        return producer.push(MEMORY, 0, fields);
    }

    /// Claims the first slot of a new ring as a process does that then dies: the layout is drawn at [CompletionRing].
    static void claim(CompletionRing completions, int lid) {
        long ring = MEMORY.get(ValueLayout.JAVA_LONG, completions.offset());
        MEMORY.set(ValueLayout.JAVA_LONG, ring + 64, 1);
        MEMORY.set(ValueLayout.JAVA_LONG, ring + 128, (long) lid << 4 | 1);
    }

    /// A place for two completions.
    static MemorySegment room() {
        return Arena.ofAuto().allocate(2L * CompletionLayout.BYTES, 8);
    }

    static int workId(MemorySegment room, int index) {
        return (int) room.get(ValueLayout.JAVA_LONG, (long) index * CompletionLayout.BYTES);
    }
}
