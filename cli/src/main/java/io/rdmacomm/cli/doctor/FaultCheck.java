package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A request that must fail with a certain status, flush the posted receive, and change no memory.
abstract class FaultCheck implements Check {
    private static final long REQUEST = 1;

    private final String name;
    private final WorkStatus expected;
    private final @Nullable WorkStatus alternative;
    private final boolean needsNoAnswer;

    /// @param expected the status on InfiniBand and RoCE (InfiniBand Architecture Specification, section 10.10)
    /// @param alternative another status that some drivers report instead; null if there is none
    /// @param needsNoAnswer whether iWARP completes the request when it is sent, without an answer from the peer
    ///     (RFC 5040, section 5.5)
    FaultCheck(String name, WorkStatus expected, @Nullable WorkStatus alternative, boolean needsNoAnswer) {
        this.name = name;
        this.expected = expected;
        this.alternative = alternative;
        this.needsNoAnswer = needsNoAnswer;
    }

    @Override
    public final String name() {
        return name;
    }

    /// Adds the request.
    abstract void add(SendBatch batch, long id, Pair pair);

    /// Why the device cannot run the check; empty if it can.
    String unsupportedReason(CheckSetup setup) {
        return "";
    }

    /// The sizes of the other end.
    EndPlan farPlan() {
        return EndPlan.usual();
    }

    /// How this end connects.
    ConnectionOptions how(ConnectionOptions usual) {
        return usual;
    }

    /// Creates the ends.
    Pair pair(CheckSetup setup) throws InterruptedException {
        return Pair.connected(setup, EndPlan.usual().withReceives(0, 64), farPlan());
    }

    /// Checks the consequences after the request has failed.
    void verify(Pair pair, CheckSetup setup) {
        if (!pair.far().isIntact()) {
            throw new CheckFailure("the peer's memory to stay as it was", "the request changed it");
        }
    }

    @Override
    public final Verdict run(CheckSetup setup) throws InterruptedException {
        String unsupportedReason = unsupportedReason(setup);
        if (!unsupportedReason.isEmpty()) {
            return Verdict.notSupported(unsupportedReason);
        }
        try (Pair pair = pair(setup.with(how(setup.how())))) {
            QueuePairEnd near = pair.near();
            long receive = near.receive();
            add(near.request(), REQUEST, pair);
            near.post();
            Map<Long, WorkStatus> ends = near.collect(all -> all.containsKey(REQUEST), setup.timeout());
            WorkStatus status = ends.get(REQUEST);
            if (status == null) {
                throw new CheckFailure(
                        expected.name(),
                        "nothing completed within " + setup.timeout().toSeconds() + " s");
            }
            boolean named = status == expected || status == alternative;
            if (!named && !(setup.isIwarp() && (status != WorkStatus.SUCCESS || needsNoAnswer))) {
                throw new CheckFailure(expected.name(), "the request completed with " + status);
            }
            if (!ends.containsKey(receive)) {
                ends = near.collect(all -> all.containsKey(receive), setup.timeout());
            }
            if (ends.get(receive) != WorkStatus.FLUSHED) {
                throw new CheckFailure(
                        "the failure to flush the receive that was posted",
                        ends.containsKey(receive) ? "it completed with " + ends.get(receive) : "it is still posted");
            }
            verify(pair, setup);
            return Verdict.ok(
                    named
                            ? status.name() + (status == expected ? "" : ", usually " + expected)
                            : status + ", and the connection ended; iWARP reports no more than that");
        }
    }
}
