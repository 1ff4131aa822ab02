package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Runs every operation that the device supports once, and compares the data.
final class Transfers implements Check {
    private static final int BYTES = QueuePairEnd.OPEN_BYTES / 2;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    @Override
    public String name() {
        return "transfers";
    }

    @Override
    public Verdict run(CheckSetup setup) throws InterruptedException {
        List<String> done = new ArrayList<>();
        EndPlan plan = EndPlan.usual().withReceives(4, 64);
        try (Pair pair = Pair.connected(setup, plan, plan)) {
            int messages = send(setup, pair, done);
            List<WorkStatus> receives = pair.far().receives(messages, setup.timeout());
            if (receives.size() != messages || receives.stream().anyMatch(each -> each != WorkStatus.SUCCESS)) {
                throw new CheckFailure(
                        messages + " messages to arrive", "the peer's receives completed with " + receives);
            }
            writeAndRead(pair);
            done.add("WRITE");
            done.add("READ");
            if (setup.supports(Capability.ATOMICS)) {
                add(pair);
                done.add("FETCH_AND_ADD");
            }
        }
        return Verdict.ok(String.join(", ", done) + ": data correct");
    }

    /// @return the number of messages
    private static int send(CheckSetup setup, Pair pair, List<String> done) throws InterruptedException {
        MemoryRegion memory = pair.near().open();
        RemoteMemory target = pair.far().offer().open();
        request(pair, "SEND", batch -> batch.send(1).with(memory, 0, 64));
        done.add("SEND");
        if (setup.supports(Capability.SEND_WITH_IMMEDIATE)) {
            request(
                    pair,
                    "SEND_WITH_IMMEDIATE",
                    batch -> batch.sendWithImmediate(1, 7).with(memory, 0, 64));
            done.add("SEND_WITH_IMMEDIATE");
        }
        if (setup.supports(Capability.WRITE_WITH_IMMEDIATE)) {
            request(
                    pair,
                    "WRITE_WITH_IMMEDIATE",
                    batch -> batch.writeWithImmediate(1, target, 7).with(memory, 0, 64));
            done.add("WRITE_WITH_IMMEDIATE");
        }
        return done.size();
    }

    /// Writes one half of the memory to the peer, and reads it back into the other half.
    private static void writeAndRead(Pair pair) throws InterruptedException {
        MemoryRegion memory = pair.near().open();
        RemoteMemory target = pair.far().offer().open();
        MemorySegment segment = memory.segment();
        for (long i = 0; i < BYTES; i += Long.BYTES) {
            segment.set(LONG, i, (i + 1) * 0x9e37_79b9_7f4a_7c15L);
        }
        segment.asSlice(BYTES).fill((byte) 0);
        request(pair, "WRITE", batch -> batch.write(1, target).with(memory, 0, BYTES));
        request(pair, "READ", batch -> batch.read(1, target).with(memory, BYTES, BYTES));
        long wrong = MemorySegment.mismatch(segment, 0, BYTES, segment, BYTES, 2L * BYTES);
        if (wrong >= 0) {
            throw new CheckFailure(
                    "READ to fetch what WRITE has stored", "byte " + wrong + " of " + BYTES + " differs");
        }
    }

    private static void add(Pair pair) throws InterruptedException {
        MemoryRegion memory = pair.near().open();
        RemoteMemory target = pair.far().offer().open();
        long before = memory.segment().get(LONG, 0);
        request(
                pair,
                "FETCH_AND_ADD",
                batch -> batch.fetchAndAdd(1, target.slice(0, Long.BYTES), 5).with(memory, BYTES, Long.BYTES));
        long first = memory.segment().get(LONG, BYTES);
        request(
                pair,
                "FETCH_AND_ADD",
                batch -> batch.fetchAndAdd(1, target.slice(0, Long.BYTES), 1).with(memory, BYTES, Long.BYTES));
        long second = memory.segment().get(LONG, BYTES);
        if (first != before || second != before + 5) {
            throw new CheckFailure(
                    "FETCH_AND_ADD to return " + before + " and " + (before + 5),
                    "it returned " + first + " and " + second);
        }
    }

    private static void request(Pair pair, String what, Consumer<SendBatch> request) throws InterruptedException {
        SendBatch batch = pair.near().request();
        request.accept(batch);
        batch.signaled();
        pair.near().post();
        WorkStatus status = pair.end(1);
        if (status != WorkStatus.SUCCESS) {
            throw new CheckFailure(what + " to succeed", "it completed with " + status);
        }
    }
}
