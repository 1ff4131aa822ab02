package io.rdmacomm.examples;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class QuoteRowTest {
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment memory = arena.allocate(QuoteRow.BYTES, Long.BYTES);
    private final QuoteRow row = new QuoteRow(memory);

    @Test
    void returnsWhatWasWritten() {
        assertThat(row.read()).isTrue();
        assertThat(row.bid()).isZero();
        row.write(4, 5);
        assertThat(row.read()).isTrue();
        assertThat(row.bid()).isEqualTo(4);
        assertThat(row.ask()).isEqualTo(5);
        assertThat(memory.get(JAVA_LONG, 0)).isEqualTo(2);
    }

    @Test
    void aWriterThatDiedInTheMiddleEndsARead() {
        row.write(4, 5);
        memory.set(JAVA_LONG, 0, 3);
        assertThat(row.read()).isFalse();
    }

    @Test
    void noReadIsAMixtureOfTwoVersions() throws InterruptedException {
        Thread writer = Thread.ofPlatform().start(() -> {
            QuoteRow written = new QuoteRow(memory);
            for (long version = 1; version <= 2_000_000; version++) {
                written.write(version, -version);
            }
        });
        long versions = 0;
        for (long last = 0; last < 2_000_000; ) {
            if (row.read()) {
                assertThat(row.ask()).isEqualTo(-row.bid());
                assertThat(row.bid()).isGreaterThanOrEqualTo(last);
                versions += row.bid() == last ? 0 : 1;
                last = row.bid();
            }
        }
        writer.join();
        assertThat(versions).isPositive();
    }
}
