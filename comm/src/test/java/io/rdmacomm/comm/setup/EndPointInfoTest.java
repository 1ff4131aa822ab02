package io.rdmacomm.comm.setup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.data.ChannelInfo;
import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EndPointInfoTest {
    private static final ChannelInfo CHANNEL =
            new ChannelInfo(new QueuePairInfo(1, 2, 3, new Gid(4, 5), PathMtu.MTU_4096), 16, 544, 16, 0, 4096, 77);
    private static final EndPointInfo INFO = new EndPointInfo(
            "node sieben \u00fc", LinkLayer.ETHERNET, new SetupOffer(true, true, 65535, -2), List.of(CHANNEL, CHANNEL));

    @Test
    void whatIsReadIsWhatWasWritten() {
        assertThat(EndPointInfo.decode(INFO.encode(), "peer")).isEqualTo(INFO);
    }

    @ParameterizedTest
    @CsvSource({
        "3, 1, number of channels is 1",
        "3, 3, bytes for 3 channels",
        "2, 127, number of channels is 32514",
        "4, 127, length of the name",
        "5, 127, bytes for 2 channels",
        "16, 1, bytes for 2 channels",
        "16, 127, bytes for 2 channels",
        "17, 55, length of a channel is 55",
        "17, 0, length of a channel is 0",
        "17, 57, bytes for 2 channels"
    })
    void aHostileDescriptionIsRejectedWithTheReason(int at, int value, String words) {
        byte[] wire = INFO.encode().array();
        wire[at] = (byte) value;

        assertThatThrownBy(() -> EndPointInfo.decode(ByteBuffer.wrap(wire), "peer"))
                .isInstanceOfSatisfying(
                        SetupException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("peer")
                .hasMessageContaining(words);
    }

    @Test
    void aNameBecomesPrintable() {
        byte[] wire = INFO.encode().array();
        wire[18] = 0x1b;
        wire[19] = (byte) 0xff;

        assertThat(EndPointInfo.decode(ByteBuffer.wrap(wire), "peer").name()).isEqualTo("?\ufffdde sieben \u00fc");
    }

    @Test
    void aDescriptionThatIsCutOffIsRejected() {
        byte[] wire = INFO.encode().array();
        for (int length = 0; length < wire.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(wire, 0, length);
            assertThatThrownBy(() -> EndPointInfo.decode(cut, "peer"))
                    .as("%d bytes", length)
                    .isInstanceOf(SetupException.class);
        }
    }

    /// Bit by bit, so that a change of the format is noticed.
    @Test
    void itIsWrittenInNetworkOrder() {
        EndPointInfo info = new EndPointInfo(
                "a\u00fc", LinkLayer.ETHERNET, new SetupOffer(true, true, 65535, -2), List.of(CHANNEL, CHANNEL));
        String channel = "00000001" + "00000002" + "0003" + "05" + "10" + "0000000000000004" + "0000000000000005"
                + "00000010" + "00000220" + "00000000" + "0000000000001000" + "0000004d" + "00000000";

        assertThat(HexFormat.of().formatHex(info.encode().array()))
                .isEqualTo("02" + "03" + "0002" + "0003" + "ffff" + "fffffffffffffffe" + "0038" + "61c3bc" + channel
                        + channel);
    }

    /// The description of a later version: channels have more fields, and there are more behind the last one.
    @Test
    void whatFollowsTheKnownFieldsIsIgnored() {
        ByteBuffer known = INFO.encode();
        int name = INFO.name().getBytes(UTF_8).length;
        byte[] more = {9, 9, 9, 9, 9};
        ByteBuffer longer = ByteBuffer.allocate(known.remaining() + 3 * more.length);
        longer.put(known.slice(0, 18 + name)).putShort(16, (short) (ChannelInfo.BYTES + more.length));
        longer.put(known.slice(18 + name, ChannelInfo.BYTES)).put(more);
        longer.put(known.slice(18 + name + ChannelInfo.BYTES, ChannelInfo.BYTES))
                .put(more);
        longer.put(more).flip();

        assertThat(EndPointInfo.decode(longer, "peer")).isEqualTo(INFO);
    }

    @Test
    void aWayToConnectThatIsNotKnownYetIsIgnored() {
        byte[] wire = INFO.encode().array();
        wire[1] = (byte) 0xff;

        assertThat(EndPointInfo.decode(ByteBuffer.wrap(wire), "peer")).isEqualTo(INFO);
    }

    @ParameterizedTest
    @CsvSource({"true, false, true, false, true", "true, true, true, true, true", "true, true, false, true, false"})
    void numbersAreTakenWhereBothSidesCan(boolean a, boolean b, boolean c, boolean d, boolean numbers) {
        assertThat(new SetupOffer(a, b, 0, 0).agreeOnNumbers(new SetupOffer(c, d, 0, 0), "peer"))
                .isEqualTo(numbers);
    }

    @Test
    void withoutACommonWayBothSidesAreNamed() {
        SetupOffer own = new SetupOffer(true, false, 0, 0);
        assertThatThrownBy(() -> own.agreeOnNumbers(new SetupOffer(false, true, 0, 0), "the peer"))
                .hasMessageContaining("by numbers only, the peer by connection manager only");
    }
}
