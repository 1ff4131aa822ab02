package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.FarNamespace;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.CompletionOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/// Proves that the cable loses packets as configured, so that the other cases are meaningful.
@EnabledIfSystemProperty(
        named = "rdma.test.cable",
        matches = ".+",
        disabledReason = "it needs a bad cable: lab/suite --devices veth")
class BadCableTest extends ContractCase {
    private static final int MESSAGES = 200;
    private static final int BYTES = 8 * 1024;
    private static final int WINDOW = 32;

    @Test
    void everyMessageArrivesOnceAndInOrderAlthoughPacketsAreLost() {
        FarNamespace cable = FarNamespace.get();
        assertThat(cable).as("a cable").isNotNull();
        long before = cable.lost();
        Pair pair = connected();
        EndMemory source = here().allocate((long) WINDOW * BYTES, everything());
        EndMemory target = there().allocate((long) WINDOW * BYTES, everything());
        for (int i = 0; i < WINDOW; i++) {
            pair.there().receive(i, target.piece((long) i * BYTES, BYTES));
        }
        for (int first = 0; first < MESSAGES; first += WINDOW) {
            Work[] sends = new Work[Math.min(WINDOW, MESSAGES - first)];
            for (int i = 0; i < sends.length; i++) {
                source.write((long) i * BYTES, pattern(BYTES, first + i));
                sends[i] = Work.send(first + i, source.piece((long) i * BYTES, BYTES));
            }
            pair.here().post(sends);
            for (int i = 0; i < sends.length; i++) {
                Outcome received = good(pair.there().one(), first + i, CompletionOpcode.RECEIVE);
                assertThat(received.bytes()).isEqualTo(BYTES);
                assertThat(target.read((long) i * BYTES, BYTES)).isEqualTo(pattern(BYTES, first + i));
                pair.there().receive(first + WINDOW + i, target.piece((long) i * BYTES, BYTES));
            }
            for (int i = 0; i < sends.length; i++) {
                good(pair.here().one(), first + i, CompletionOpcode.SEND);
            }
        }
        long lost = cable.lost() - before;
        System.out.println(fabric + ": " + cable + " lost " + lost + " packets, and " + before + " before");
        assertThat(lost).as("packets lost").isPositive();
    }
}
