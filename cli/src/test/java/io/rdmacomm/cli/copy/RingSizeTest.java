package io.rdmacomm.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RingSizeTest {
    @Test
    void aSizeSurvivesItsFrame() {
        RingSize size = new RingSize(4096, 16);

        assertThat(size.chosen(size.toRing("blocks"))).isEqualTo(size);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1",
        "1, 0",
        "-1, 1",
        "1048577, 1",
        "1, 65",
        "1099511627776, 1",
        "1, 4294967297",
    })
    void aPeerCannotAskForTooMuchMemory(long chunk, long depth) {
        Frame<CopyMessage> hello = Frame.of(CopyMessage.HELLO, 1, 1, 0, chunk, depth);

        assertThatThrownBy(() -> CopyGreeting.wish(hello))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is out of range");
    }

    @Test
    void aReceiverCannotChooseMoreThanTheSenderWants() {
        RingSize wish = new RingSize(4096, 16);

        assertThatThrownBy(() -> wish.chosen(new RingSize(8192, 1).toRing(""))).isInstanceOf(CommandFailure.class);
        assertThatThrownBy(() -> wish.chosen(new RingSize(1, 17).toRing(""))).isInstanceOf(CommandFailure.class);
    }

    @Test
    void allSendersTogetherHaveNoMoreThanTheMemoryOfTheReceiver() throws Exception {
        CopyMemory memory = new CopyMemory(64 << 20);
        RingSize wish = new RingSize(1 << 20, 64);
        RingSize first = memory.take(wish);
        long taken = first.bytes();

        assertThat(taken).isEqualTo(16 << 20);
        int senders = 1;
        while (senders < 1000) {
            try {
                taken += memory.take(wish).bytes();
                senders++;
            } catch (RejectedFileException e) {
                assertThat(e.reason()).contains("--memory");
                break;
            }
        }
        assertThat(taken).isLessThanOrEqualTo(64 << 20);
        assertThat(senders).isBetween(8, 64);
        memory.give(first);
        assertThat(memory.take(wish).bytes()).isEqualTo(8 << 20);
    }
}
