package io.rdmacomm.comm.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ChannelInfoTest {
    private static final ChannelInfo INFO = new ChannelInfo(
            new QueuePairInfo(0x010203, 0x040506, 0xfffe, new Gid(0x1122334455667788L, 0x99L), PathMtu.MTU_1024),
            64,
            16384,
            200,
            8,
            0x7f0000001000L,
            0xcafe);
    private static final String WIRE = "00010203" + "00040506" + "fffe" + "03" + "c8" + "1122334455667788"
            + "0000000000000099" + "00000040" + "00004000" + "00000008" + "00007f0000001000" + "0000cafe" + "00000000";

    @Test
    void itIsWrittenInNetworkOrder() {
        ByteBuffer to = ByteBuffer.allocate(ChannelInfo.BYTES);
        INFO.put(to);

        assertThat(to.hasRemaining()).isFalse();
        assertThat(HexFormat.of().formatHex(to.array())).isEqualTo(WIRE);
    }

    @Test
    void whatIsReadIsWhatWasWritten() {
        assertThat(ChannelInfo.get(ByteBuffer.wrap(HexFormat.of().parseHex(WIRE))))
                .isEqualTo(INFO);
    }

    @ParameterizedTest
    @CsvSource({"10, 0, MTU code", "10, 6, MTU code", "31, 0, receives", "32, 1, message bytes", "39, 9, arrival read"})
    void numbersOutOfRangeAreRejected(int at, int value, String named) {
        byte[] wire = HexFormat.of().parseHex(WIRE);
        wire[at] = (byte) value;

        assertThatThrownBy(() -> ChannelInfo.get(ByteBuffer.wrap(wire)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(named);
    }
}
