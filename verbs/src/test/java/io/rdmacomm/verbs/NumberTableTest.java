package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class NumberTableTest {
    private final NumberTable<String> table = new NumberTable<>();

    @Test
    void findsWhatWasPut() {
        assertThat(table.find(7)).isNull();
        table.put(7, "seven");
        table.put(0, "zero");
        assertThat(table.find(7)).isEqualTo("seven");
        assertThat(table.find(0)).isEqualTo("zero");
        table.remove(7, "seven");
        assertThat(table.find(7)).isNull();
        assertThat(table.find(0)).isEqualTo("zero");
    }

    @Test
    void aReusedNumberNamesTheNewObject() {
        table.put(7, "old");
        table.put(7, "new");
        table.remove(7, "old");
        assertThat(table.find(7)).isEqualTo("new");
    }

    @Test
    void agreesWithAMap() {
        Random random = new Random(1);
        Map<Long, String> expected = new HashMap<>();
        for (int round = 0; round < 2_000; round++) {
            long number = (long) random.nextInt(300) << random.nextInt(48);
            String before = expected.get(number);
            if (before == null) {
                String value = "object " + round;
                expected.put(number, value);
                table.put(number, value);
            } else {
                expected.remove(number);
                table.remove(number, before);
            }
            assertThat(table.find(number)).isEqualTo(expected.get(number));
        }
        expected.forEach((number, value) -> assertThat(table.find(number)).isEqualTo(value));
    }

    /// Numbers that are never used again must not fill the table.
    @Test
    void numbersThatComeAndGoTakeNoRoom() {
        table.put(-1, "stays");
        for (int number = 0; number < 100_000; number++) {
            table.put(number, "object");
            table.remove(number, "object");
            assertThat(table.find(number)).isNull();
        }
        assertThat(table.find(-1)).isEqualTo("stays");
        assertThat(table.slotCount()).isEqualTo(16);
    }

    /// A thread looks up numbers while others come and go.
    @Test
    void readersNeedNoLock() throws Exception {
        table.put(-1, "stays");
        AtomicBoolean over = new AtomicBoolean();
        FutureTask<Long> reading = new FutureTask<>(() -> {
            long found = 0;
            while (!over.get() || found == 0) {
                assertThat(table.find(-1)).isEqualTo("stays");
                String other = table.find(found & 0xff);
                assertThat(other == null || other.equals("object " + (found & 0xff)))
                        .isTrue();
                found++;
            }
            return found;
        });
        Thread.ofPlatform().daemon().start(reading);
        Random random = new Random(3);
        for (int round = 0; round < 200_000; round++) {
            int number = random.nextInt(256);
            if (table.find(number) == null) {
                table.put(number, "object " + number);
            } else {
                table.remove(number, "object " + number);
            }
        }
        over.set(true);
        assertThat(reading.get(20, TimeUnit.SECONDS)).isPositive();
    }
}
