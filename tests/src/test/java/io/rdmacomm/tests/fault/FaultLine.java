package io.rdmacomm.tests.fault;

import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import java.time.Duration;
import java.util.Set;

/// A device with rules, and as its peer the device that it wraps.
final class FaultLine implements AutoCloseable {
    private static final ConnectionOptions PATIENT =
            ConnectionOptions.defaults().withTimeout(Duration.ofMillis(268), 7);
    private static final int BYTES = 4096;

    final LocalEnd here;
    final LocalEnd there;
    final LocalMemory source;
    final LocalMemory target;

    /// @param rules what follows the question mark in the name of the device
    FaultLine(String rules) {
        here = LocalEnd.open("fault:soft0?" + rules);
        there = LocalEnd.open("soft0");
        source = here.allocate(BYTES, access());
        target = there.allocate(BYTES, access());
        source.fill(7);
    }

    private static Set<AccessFlag> access() {
        return Set.of(
                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);
    }

    /// Two connected queue pairs.
    record Queues(LocalQueue here, LocalQueue there) {}

    Queues connected() {
        Queues queues = new Queues(here.queue(Spec.usual()), there.queue(Spec.usual()));
        queues.here.connect(queues.there.info(), PATIENT);
        queues.there.connect(queues.here.info(), PATIENT);
        return queues;
    }

    /// Eight bytes of this end's memory, at `8 * index`.
    Piece piece(int index) {
        return source.piece(8L * index, 8);
    }

    /// A WRITE of 8 bytes with number `id` to `8 * id`.
    Work write(long id) {
        return Work.write(id, target.remote().slice(8 * id, 8), piece(0));
    }

    /// Whether the WRITE with this number was carried out.
    boolean isWritten(long id) {
        return target.getLong(8 * id) != 0;
    }

    @Override
    public void close() {
        try (here) {
            there.close();
        }
    }
}
