package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What two programs exchange before they connect has a way to bytes and back, and bytes of a stranger are
/// checked.
class ExchangedBytesTest {
    private static final QueuePairInfo INFO =
            new QueuePairInfo(0x010203, 0xfffefd, 0x8001, new Gid(0xfe80_0000_0000_0000L, 0xff), PathMtu.MTU_2048);

    @Test
    void theLayoutsAreThoseThatAreDocumented() {
        assertThat(HexFormat.of().formatHex(INFO.toBytes()))
                .isEqualTo("00010203" + "00fffefd" + "8001" + "04" + "00" + "fe8000000000000000000000000000ff");
        assertThat(HexFormat.of().formatHex(new RemoteMemory(0x7f00_0000_0000_1000L, 4096, -2).toBytes()))
                .isEqualTo("7f00000000001000" + "0000000000001000" + "fffffffe");
    }

    @Test
    void theyComeBackAsTheyWere() {
        assertThat(QueuePairInfo.ofBytes(INFO.toBytes())).isEqualTo(INFO);
        RemoteMemory memory = new RemoteMemory(-4096, 4096, 7);
        assertThat(RemoteMemory.ofBytes(memory.toBytes())).isEqualTo(memory);
        assertThat(Gid.ofBytes(INFO.gid().bytes())).isEqualTo(INFO.gid());
    }

    @ParameterizedTest
    @EnumSource
    void anMtuComesBackFromItsBytesAndItsCode(PathMtu mtu) {
        assertThat(PathMtu.ofBytes(mtu.bytes())).isEqualTo(mtu);
        assertThat(PathMtu.ofCode(mtu.code())).isEqualTo(mtu);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 128, 255, 1025, 8192, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void anotherNumberIsNoMtu(int number) {
        assertThatThrownBy(() -> PathMtu.ofBytes(number)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PathMtu.ofCode(number)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({"0, queue pair number", "4, packet sequence number", "10, MTU code", "11, reserved byte"})
    void aByteOutOfRangeIsNamed(int position, String what) {
        byte[] bytes = INFO.toBytes();
        bytes[position] = (byte) 0xff;

        assertThatThrownBy(() -> QueuePairInfo.ofBytes(bytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(what);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 17, 19, 21, 27, 29, 1000})
    void anotherLengthIsRejected(int length) {
        byte[] bytes = new byte[length];

        assertThatThrownBy(() -> Gid.ofBytes(bytes)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> QueuePairInfo.ofBytes(bytes)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RemoteMemory.ofBytes(bytes)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void memoryEndsAtTheLastAddress() {
        assertThat(RemoteMemory.ofBytes(bytes(-1, 1)).length()).isEqualTo(1);
        assertThatThrownBy(() -> RemoteMemory.ofBytes(bytes(-1, 2))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RemoteMemory.ofBytes(bytes(-4096, Long.MAX_VALUE)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RemoteMemory.ofBytes(bytes(0, -1))).isInstanceOf(IllegalArgumentException.class);
    }

    private static byte[] bytes(long address, long length) {
        return ByteBuffer.allocate(RemoteMemory.BYTES)
                .putLong(address)
                .putLong(length)
                .array();
    }

    @Test
    void randomBytesCostAnExceptionAtMost() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            try {
                assertThat(QueuePairInfo.ofBytes(bytes).toBytes())
                        .as("seed " + seed)
                        .isEqualTo(bytes);
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage()).as("seed " + seed).isNotBlank();
            }
            try {
                assertThat(RemoteMemory.ofBytes(bytes).toBytes())
                        .as("seed " + seed)
                        .isEqualTo(bytes);
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage()).as("seed " + seed).isNotBlank();
            }
        }
    }
}
