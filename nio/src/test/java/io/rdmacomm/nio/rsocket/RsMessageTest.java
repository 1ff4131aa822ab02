package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.rsocket.RsMessage.Kind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The messages of rsocket.c, bit by bit.
class RsMessageTest {
    @ParameterizedTest
    @CsvSource({
        "0x00000001, DATA",
        "0x1fffffff, DATA",
        "0x80000000, CREDITS",
        "0x9fffffff, CREDITS",
        "0xc0000000, MAPPING",
        "0xdfffffff, MAPPING",
        "0xe0000000, DISCONNECT",
        "0xe0000002, SHUTDOWN",
        "0x00000000, UNKNOWN",
        "0x20000000, UNKNOWN",
        "0x40000000, UNKNOWN",
        "0x7fffffff, UNKNOWN",
        "0xa0000000, UNKNOWN",
        "0xe0000001, UNKNOWN",
        "0xe0000003, UNKNOWN",
        "0xffffffff, UNKNOWN",
    })
    void theHighestBitsAreTheOperation(String message, Kind kind) {
        assertThat(RsMessage.kind(Long.decode(message).intValue())).isEqualTo(kind);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4096, RsMessage.MAX_DATA})
    void dataCarriesTheNumberOfBytes(int bytes) {
        assertThat(RsMessage.kind(RsMessage.data(bytes))).isEqualTo(Kind.DATA);
        assertThat(RsMessage.bytes(RsMessage.data(bytes))).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "65535, 65535", "65536, 0", "-1, 65535"})
    void creditsCarryTheLowerBitsOfTheLimit(int limit, int carried) {
        assertThat(RsMessage.kind(RsMessage.credits(limit))).isEqualTo(Kind.CREDITS);
        assertThat(RsMessage.limit(RsMessage.credits(limit))).isEqualTo(carried);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 32_512})
    void aMappingCarriesItsIndex(int index) {
        assertThat(RsMessage.kind(RsMessage.mapping(index))).isEqualTo(Kind.MAPPING);
        assertThat(RsMessage.index(RsMessage.mapping(index))).isEqualTo(index);
    }
}
