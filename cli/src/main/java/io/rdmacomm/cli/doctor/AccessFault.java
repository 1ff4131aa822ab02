package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A request for memory that it may not access.
final class AccessFault extends FaultCheck {
    private static final int OTHER = 0x5a5a5a00;
    private static final int BYTES = 64;

    private final Request request;

    /// The request of a check.
    private interface Request {
        /// Adds the request.
        void add(SendBatch batch, long id, Pair pair);
    }

    private AccessFault(
            String name,
            WorkStatus expected,
            @Nullable WorkStatus alternative,
            boolean needsNoAnswer,
            Request request) {
        super(name, expected, alternative, needsNoAnswer);
        this.request = request;
    }

    /// All checks of this kind.
    static List<Check> all() {
        return List.of(
                remote(
                        "WRITE without the right",
                        true,
                        (batch, id, pair) -> batch.write(id, pair.far().offer().closed())),
                remote(
                        "READ without the right",
                        false,
                        (batch, id, pair) -> batch.read(id, pair.far().offer().closed())),
                remote("unknown remote key", true, (batch, id, pair) -> {
                    RemoteMemory memory = pair.far().offer().closed();
                    batch.write(id, new RemoteMemory(memory.address(), memory.length(), memory.key() ^ OTHER));
                }),
                // rxe reports LOCAL_QUEUE_PAIR_ERROR (`rxe_requester`).
                new AccessFault(
                        "unknown local key",
                        WorkStatus.LOCAL_PROTECTION_ERROR,
                        WorkStatus.LOCAL_QUEUE_PAIR_ERROR,
                        false,
                        (batch, id, pair) -> {
                            var source = pair.near().open();
                            batch.write(id, pair.far().offer().open())
                                    .with(source.address(), BYTES, source.localKey() ^ OTHER);
                        }));
    }

    /// A request whose local memory is valid.
    private static AccessFault remote(String name, boolean needsNoAnswer, Request request) {
        return new AccessFault(name, WorkStatus.REMOTE_ACCESS_ERROR, null, needsNoAnswer, (batch, id, pair) -> {
            request.add(batch, id, pair);
            batch.with(pair.near().open(), 0, BYTES);
        });
    }

    @Override
    void add(SendBatch batch, long id, Pair pair) {
        request.add(batch, id, pair);
        batch.signaled();
    }
}
