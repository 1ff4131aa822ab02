package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
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
        table.remove("seven");
        assertThat(table.find(7)).isNull();
        assertThat(table.find(0)).isEqualTo("zero");
    }

    @Test
    void aReusedNumberNamesTheNewObject() {
        table.put(7, "old");
        table.put(7, "new");
        table.remove("old");
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
                table.remove(before);
            }
            assertThat(table.find(number)).isEqualTo(expected.get(number));
        }
        expected.forEach((number, value) -> assertThat(table.find(number)).isEqualTo(value));
    }
}
