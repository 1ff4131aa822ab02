package io.rdmacomm.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.SetupFailedException.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CopyGreetingTest {
    private static final RingSize WISH = new RingSize(4096, 16);

    private static final CopyGreeting OURS = new CopyGreeting(2, 4, 5);

    @Test
    void theNumbersOfTheFirstReleaseStayWhereTheyAre() {
        assertThat(CopyGreeting.RELEASE.ask(WISH).numbers()).containsExactly(1L, 1L, 0L, 4096L, 16L);
        assertThat(CopyGreeting.RELEASE.answer().numbers()).containsExactly(1L, 1L, 0L);
    }

    @ParameterizedTest
    @CsvSource({"1, 3, 1, 3, 1", "1, 2, 0, 2, 0", "3, 9, -1, 4, 5", "4, 65535, -4, 4, 4"})
    void bothSidesUseWhatTheyHaveInCommon(int lowest, int highest, long features, int version, long common) {
        CopyGreeting peer = new CopyGreeting(lowest, highest, features);

        assertThat(OURS.agree(peer.ask(WISH), "peer")).isEqualTo(new CopyGreeting(version, version, common));
        assertThat(peer.agree(OURS.answer(), "peer")).isEqualTo(new CopyGreeting(version, version, common));
    }

    @Test
    void numbersAndTextBehindTheKnownOnesAreIgnored() {
        Frame<CopyMessage> longer = Frame.of(CopyMessage.HELLO, "more", 3, 9, -1, 4096, 16, 4711, 4712);

        assertThat(OURS.agree(longer, "peer")).isEqualTo(new CopyGreeting(4, 4, 5));
        assertThat(CopyGreeting.wish(longer)).isEqualTo(WISH);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | 1 | the sender speaks version 1 of the file copy protocol, this side versions 2 to 4;"
                        + " update rdmacomm on the sender",
                "5 | 6 | the sender speaks versions 5 to 6 of the file copy protocol, this side versions 2 to 4;"
                        + " update rdmacomm on this side",
            })
    void withoutACommonVersionBothRangesAreNamedAndTheSideToUpdate(int lowest, int highest, String message) {
        assertThatThrownBy(() -> OURS.agree(new CopyGreeting(lowest, highest, 0).ask(WISH), "the sender"))
                .isInstanceOfSatisfying(
                        SetupFailedException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.OTHER_VERSION))
                .hasMessage(message);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 0", "4, 3", "-1, 4", "2, 65536", "4294967298, 4294967300", "-9223372036854775808, 4"})
    void aHostileGreetingIsRejected(long lowest, long highest) {
        Frame<CopyMessage> hello = Frame.of(CopyMessage.HELLO, lowest, highest, 0, 4096, 16);

        assertThatThrownBy(() -> OURS.agree(hello, "peer"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("peer sent an invalid greeting")
                .hasMessageContaining("version is");
    }

    @Test
    void aGreetingThatIsCutOffIsRejected() {
        for (Frame<CopyMessage> cut : List.of(
                Frame.of(CopyMessage.HELLO), Frame.of(CopyMessage.HELLO, 2), Frame.of(CopyMessage.HELLO, 2, 4))) {
            assertThatThrownBy(() -> OURS.agree(cut, "peer"))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("incomplete HELLO");
        }
    }

    @Test
    void anotherMessageInItsPlaceIsRejected() {
        assertThatThrownBy(() -> OURS.agree(Frame.of(CopyMessage.BUSY, 2, 4, 0), "peer"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("different protocol");
    }
}
