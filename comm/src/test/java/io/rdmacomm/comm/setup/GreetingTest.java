package io.rdmacomm.comm.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.setup.SetupException.Reason;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The versions and features that two sides tell each other, right and hostile ones.
final class GreetingTest {
    private static final Greeting GREETING = new Greeting(Protocol.SESSION, 2, 0xfffe, 0x8000_0000_0000_0005L);
    private static final String WIRE = "0001" + "0002" + "fffe" + "0000" + "8000000000000005";

    private static Greeting speaks(int lowest, int highest) {
        return new Greeting(Protocol.SESSION, lowest, highest, 0);
    }

    private static ByteBuffer bytes(String digits) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(digits));
    }

    @Test
    void itIsWrittenInNetworkOrder() {
        assertThat(HexFormat.of().formatHex(GREETING.encode().array())).isEqualTo(WIRE);
    }

    @Test
    void whatIsReadIsWhatWasWritten() {
        assertThat(Greeting.decode(GREETING.encode(), "peer")).isEqualTo(GREETING);
    }

    @Test
    void whatFollowsIsIgnored() {
        ByteBuffer longer = bytes(WIRE + "cafe".repeat(1000));

        assertThat(Greeting.decode(longer, "peer")).isEqualTo(GREETING);
        assertThat(longer.position()).as("all of it is still to be read").isZero();
    }

    @Test
    void aFieldThatIsNotUsedYetIsIgnored() {
        assertThat(Greeting.decode(bytes("0001" + "0002" + "fffe" + "4711" + "8000000000000005"), "peer"))
                .isEqualTo(GREETING);
    }

    @ParameterizedTest
    @CsvSource({
        "0001 0000 0001, lowest version is 0",
        "0001 0000 0000, lowest version is 0",
        "0001 0001 0000, highest version is 0",
        "0001 0003 0002, highest version is 2",
        "0001 ffff fffe, highest version is 65534",
        "0000 0001 0001, no protocol with number 0",
        "0002 0001 0001, no protocol with number 2",
        "4711 0001 0001, no protocol with number 18193",
    })
    void aHostileGreetingIsRejectedWithTheReason(String fields, String words) {
        ByteBuffer wire = bytes(fields.replace(" ", "") + "0000" + "0000000000000000");

        assertThatThrownBy(() -> Greeting.decode(wire, "peer"))
                .isInstanceOfSatisfying(
                        SetupException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("peer sent an invalid greeting")
                .hasMessageContaining(words);
    }

    @Test
    void aGreetingThatIsCutOffIsRejected() {
        for (int length = 0; length < WIRE.length() / 2; length++) {
            ByteBuffer cut = bytes(WIRE).limit(length);
            assertThatThrownBy(() -> Greeting.decode(cut, "peer"))
                    .as("%d bytes", length)
                    .isInstanceOfSatisfying(
                            SetupException.class,
                            failure -> assertThat(failure.reason()).isEqualTo(Reason.PROTOCOL_VIOLATED));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 1, 1, 1",
        "1, 3, 2, 5, 3",
        "2, 5, 1, 3, 3",
        "1, 9, 4, 6, 6",
        "3, 3, 1, 65535, 3",
    })
    void bothSidesComeToTheHighestCommonVersion(int a, int b, int c, int d, int version) {
        Greeting one = speaks(a, b);
        Greeting other = speaks(c, d);

        assertThat(one.agree(other, "other")).isEqualTo(new AgreedVersion(version, 0));
        assertThat(other.agree(one, "one")).isEqualTo(new AgreedVersion(version, 0));
    }

    @Test
    void theGreetingOfAnExchangeEndsWithItsName() {
        Greeting named = new Greeting(Protocol.EXCHANGE, 1, 2, 3, "a.b");

        assertThat(HexFormat.of().formatHex(named.encode().array()))
                .isEqualTo("0004" + "0001" + "0002" + "0000" + "0000000000000003" + "0003" + "612e62");
        assertThat(Greeting.decode(
                        bytes("0004" + "0001" + "0002" + "4711" + "0000000000000003" + "0003" + "612e62" + "cafe"),
                        "peer"))
                .isEqualTo(named);
    }

    @ParameterizedTest
    @CsvSource({
        "'', bytes for the protocol's name",
        "00, bytes for the protocol's name",
        "0000, length of the protocol's name is 0",
        "0004 612e62, length of the protocol's name is 4",
        "ffff 612e62, length of the protocol's name is 65535",
        "0003 611b62, other characters",
        "0003 61e462, other characters",
        "0003 610062, other characters",
    })
    void aHostileNameIsRejectedWithTheReason(String name, String words) {
        ByteBuffer wire = bytes("0004" + "0001" + "0001" + "0000" + "0000000000000000" + name.replace(" ", ""));

        assertThatThrownBy(() -> Greeting.decode(wire, "peer"))
                .isInstanceOfSatisfying(
                        SetupException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("peer sent an invalid greeting")
                .hasMessageContaining(words);
    }

    @Test
    void exchangesOfDifferentNamesDoNotAgree() {
        Greeting one = new Greeting(Protocol.EXCHANGE, 1, 1, 0, "one");
        Greeting two = new Greeting(Protocol.EXCHANGE, 1, 1, 0, "two");

        assertThatThrownBy(() -> one.agree(two, "peer"))
                .isInstanceOfSatisfying(
                        SetupException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("peer speaks the two protocol, this side the one protocol");
    }

    @Test
    void bothSidesUseTheFeaturesThatBothHave() {
        Greeting one = new Greeting(Protocol.SESSION, 1, 1, 0b1011);
        Greeting other = new Greeting(Protocol.SESSION, 1, 1, 0x8000_0000_0000_0006L);

        assertThat(one.agree(other, "other").features()).isEqualTo(0b10);
        assertThat(other.agree(one, "one").features()).isEqualTo(0b10);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | 3 | 1 | 1 | the peer speaks version 1 of the session protocol, this side versions 2 to 3;"
                        + " update rdmacomm on the peer",
                "1 | 1 | 2 | 3 | the peer speaks versions 2 to 3 of the session protocol, this side version 1;"
                        + " update rdmacomm on this side",
                "1 | 4 | 5 | 5 | the peer speaks version 5 of the session protocol, this side versions 1 to 4;"
                        + " update rdmacomm on this side",
            })
    void withoutACommonVersionBothRangesAreNamedAndTheSideToUpdate(int a, int b, int c, int d, String message) {
        assertThatThrownBy(() -> speaks(a, b).agree(speaks(c, d), "the peer"))
                .isInstanceOfSatisfying(
                        SetupException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.OTHER_VERSION))
                .hasMessage(message);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7})
    void thePortOfAnotherProtocolIsNoOtherVersion(int version) {
        Greeting other = new Greeting(Protocol.EXCHANGE, version, version, 0, "org.example.other");

        assertThatThrownBy(() -> speaks(1, 1).agree(other, "the peer"))
                .isInstanceOfSatisfying(
                        SetupException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("the peer speaks the org.example.other protocol, this side the session protocol");
    }
}
