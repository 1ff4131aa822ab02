package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.WorkStatus;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/// When a queue pair changes to ERROR, all outstanding work must be flushed in order.
final class Flush implements Check {
    private static final int COUNT = 16;

    @Override
    public String name() {
        return "flush in ERROR";
    }

    @Override
    public Verdict run(CheckSetup setup) throws InterruptedException {
        // SENDs wait for a receive of the peer only if the device has RNR.
        int sends = setup.supports(Capability.RECEIVER_NOT_READY) ? COUNT : 0;
        EndPlan plan = EndPlan.usual();
        try (Pair pair = Pair.connected(setup, plan.withReceives(COUNT, 64), plan.withReceives(0, 64))) {
            QueuePairEnd near = pair.near();
            for (int i = 0; i < sends; i++) {
                near.request().send(i).with(near.open(), 0, 8).signaled();
                near.post();
            }
            near.queuePair().modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            Map<Long, WorkStatus> ends = near.collect(all -> all.size() == sends + COUNT, setup.timeout());
            check("sends", ends, 0, sends);
            check("receives", ends, QueuePairEnd.FIRST_RECEIVE, COUNT);
            return Verdict.ok(sends + " sends and " + COUNT + " receives FLUSHED in order");
        }
    }

    private static void check(String what, Map<Long, WorkStatus> ends, long first, int count) {
        List<Long> posted = LongStream.range(first, first + count).boxed().toList();
        List<Long> ended = ends.keySet().stream().filter(posted::contains).toList();
        if (!ended.equals(posted)) {
            throw new CheckFailure(
                    count + " " + what + " to end in the order of posting",
                    ended.size() + " ended, in the order "
                            + ended.stream().map(id -> id - first).toList());
        }
        for (long id : posted) {
            if (ends.get(id) != WorkStatus.FLUSHED) {
                throw new CheckFailure(what + " to complete with FLUSHED", "one completed with " + ends.get(id));
            }
        }
    }
}
