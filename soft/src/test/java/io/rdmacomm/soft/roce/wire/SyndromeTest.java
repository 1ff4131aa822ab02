package io.rdmacomm.soft.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SyndromeTest {
    @Test
    void everyValueIsOfOneKind() {
        for (int syndrome = 0; syndrome < 256; syndrome++) {
            assertThat(Syndrome.isDone(syndrome)).as("%02x", syndrome).isEqualTo(syndrome <= 0x1f);
            assertThat(Syndrome.isNotReady(syndrome))
                    .as("%02x", syndrome)
                    .isEqualTo(syndrome >= 0x20 && syndrome <= 0x3f);
        }
    }

    @Test
    void timesToWaitComeBack() {
        for (int timer = 0; timer < 32; timer++) {
            assertThat(Syndrome.notReady(timer)).isEqualTo(0x20 + timer);
            assertThat(Syndrome.timer(Syndrome.notReady(timer))).isEqualTo(timer);
        }
    }
}
