package io.rdmacomm.mesh.collective;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The comparison of calls.
final class CallLogTest {
    private final CallLog log = new CallLog(5);

    @Test
    void equalCallsAreNoFault() {
        log.begin(10, 7);
        log.begin(11, 8);
        log.compare(1, 0, 10, 7);
        log.compare(1, 1, 11, 8);
        assertThat(log.fault()).isNull();
        assertThat(log.isCurrent(1, 11, 8)).isTrue();
        assertThat(log.isCurrent(0, 10, 7)).isFalse();
    }

    @Test
    void anEarlierCallThatDiffersIsAFault() {
        log.begin(10, 7);
        log.begin(11, 8);
        log.compare(3, 0, 10, 6);
        assertThat(log.fault()).isNotNull();
        assertThat(log.fault().text()).contains("ranks 3 and 5", "collective 0 of rank 3", "collective 0 of rank 5");
        assertThat(log.fault().failure()).isInstanceOf(CollectiveMismatchException.class);
    }

    @Test
    void aLaterCallIsNotKnownYet() {
        log.begin(10, 7);
        log.compare(3, 1, 99, 99);
        log.compare(3, -1, 99, 99);
        log.compare(3, Long.MAX_VALUE, 99, 99);
        assertThat(log.fault()).isNull();
    }

    @Test
    void aCallOfLongAgoIsForgotten() {
        for (int i = 0; i < 1000; i++) {
            log.begin(i, i);
        }
        log.compare(3, 10, 99, 99);
        assertThat(log.fault()).isNull();
        log.compare(3, 990, 99, 99);
        assertThat(log.fault()).isNotNull();
    }

    @Test
    void theFirstFaultIsKept() {
        log.fail(new CollectiveFault(CollectiveFault.DEADLINE, "first"));
        log.fail(new CollectiveFault(CollectiveFault.MISMATCH, "second"));
        assertThat(log.fault()).isEqualTo(new CollectiveFault(CollectiveFault.DEADLINE, "first"));
        assertThat(log.fault().refusal()).hasMessageContaining("first");
    }

    @Test
    void textOfAPeerIsOneLine() {
        CollectiveFault fault =
                CollectiveFault.fromPeer(2, (byte) 77, ("a\nb\u009b" + "x".repeat(500)).getBytes(UTF_8));
        assertThat(fault.text())
                .startsWith("rank 2 has ended the collectives: a?b?xx")
                .hasSizeLessThan(600);
        assertThat(fault.failure()).hasMessage(fault.text());
    }
}
