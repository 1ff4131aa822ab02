package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionDataTest {
    private static final ConnectionData DATA = new ConnectionData(
            128, 5, 0x1122334455667788L, 0x01020304, 2, 0x99aabbccddeeff00L, 0x05060708, 65_536, true);

    @Test
    void theLayoutIsThatOfTheCLibrary() {
        assertThat(HexFormat.of().formatHex(DATA.bytes(40)))
                .isEqualTo("01020080" + "00000005" + "1122334455667788" + "01020304" + "00000002" + "99aabbccddeeff00"
                        + "05060708" + "00010000");
    }

    @Test
    void theExtensionIsReadWhereThereIsRoomForIt() throws ProtocolException {
        assertThat(ConnectionData.parse(DATA.bytes(56))).isEqualTo(DATA);
        assertThat(ConnectionData.parse(Arrays.copyOf(DATA.bytes(196), 196))).isEqualTo(DATA);
        assertThat(ConnectionData.parse(DATA.bytes(47)).immediate()).isFalse();
        assertThat(ConnectionData.parse(Arrays.copyOf(DATA.bytes(40), 196)).immediate())
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, version 0",
        "0, 2, version 2",
        "1, 3, big-endian",
        "3, 0, 0 messages",
        "23, 1, 1 targets",
        "36, 128, bytes",
    })
    void otherPeersAreRejected(int offset, int value, String reason) {
        byte[] bytes = DATA.bytes(40);
        bytes[offset] = (byte) value;
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> ConnectionData.parse(bytes))
                .withMessageContaining(reason);
    }

    /// `rs_value_to_scale` and back.
    @ParameterizedTest
    @CsvSource({
        "0, 0, 0",
        "1, 1, 1",
        "128, 128, 128",
        "255, 128, 128",
        "256, 129, 256",
        "1000, 131, 768",
        "40000, 255, 32512"
    })
    void manyMappingsAreCountedInUnitsOf256(int wanted, int sent, int granted) throws ProtocolException {
        int mappings = BufferSizes.defaults().withMappings(wanted).mappings();
        assertThat(mappings).isEqualTo(granted);
        ConnectionData data = new ConnectionData(1, mappings, 0, 0, 2, 0, 0, 1, false);
        assertThat(data.bytes(40)[7] & 0xff).isEqualTo(sent);
        assertThat(ConnectionData.parse(data.bytes(40))).isEqualTo(data);
        byte[] invalid = data.bytes(40);
        invalid[1] = 0;
        assertThat(ConnectionData.parse(invalid).mappings()).isZero();
    }

    @Test
    void shortPrivateDataIsRejected() {
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> ConnectionData.parse(new byte[39]))
                .withMessageContaining("39 bytes");
    }

    @Test
    void messagesAreThoseOfTheCLibrary() {
        assertThat(RsMessage.kind(RsMessage.data(1))).isEqualTo(RsMessage.Kind.DATA);
        assertThat(RsMessage.bytes(RsMessage.data(65_536))).isEqualTo(65_536);
        assertThat(RsMessage.credits(0x12345)).isEqualTo(0x8000_2345);
        assertThat(RsMessage.kind(0x8001_2345)).isEqualTo(RsMessage.Kind.CREDITS);
        assertThat(RsMessage.limit(0x8001_2345)).isEqualTo(0x2345);
        assertThat(RsMessage.mapping(3)).isEqualTo(0xc000_0003);
        assertThat(RsMessage.kind(0xc000_0003)).isEqualTo(RsMessage.Kind.MAPPING);
        assertThat(RsMessage.index(0xc000_0003)).isEqualTo(3);
        assertThat(RsMessage.kind(0xe000_0000)).isEqualTo(RsMessage.Kind.DISCONNECT);
        assertThat(RsMessage.kind(0xe000_0002)).isEqualTo(RsMessage.Kind.SHUTDOWN);
        for (int unknown : new int[] {0, 0x2000_0000, 0x4000_0001, 0x6000_0000, 0xa000_0000, 0xe000_0003}) {
            assertThat(RsMessage.kind(unknown)).isEqualTo(RsMessage.Kind.UNKNOWN);
        }
    }
}
