package io.rdmacomm.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.Gid;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PerftestKeyTest {
    private static final String WITH_GID = "0000:0010:000011:a1b2c3:fedcba98:00007f0012345000:"
            + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:01:00000000:\0";
    private static final String WITHOUT_GID = "001f:0001:000011:a1b2c3:00001234:ffffffff12345000:00000000\0";

    @Test
    void theTextsAreThoseOfTheCPrograms() {
        PerftestKey gid = new PerftestKey(
                0, 16, 17, 0xa1b2c3, 0xfedcba98, 0x7f00_1234_5000L, Gid.of(InetAddress.ofLiteral("10.9.0.1")));
        PerftestKey lid = new PerftestKey(31, 1, 17, 0xa1b2c3, 0x1234, 0xffff_ffff_1234_5000L, Gid.NONE);

        assertThat(text(gid)).isEqualTo(WITH_GID).hasSize(PerftestKey.BYTES_WITH_GID);
        assertThat(text(lid)).isEqualTo(WITHOUT_GID).hasSize(PerftestKey.BYTES);
        assertThat(decode(WITH_GID)).isEqualTo(gid);
        assertThat(decode(WITHOUT_GID)).isEqualTo(lid);
        assertThat(decode(WITHOUT_GID.replace('c', 'C'))).isEqualTo(lid);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GET / HTTP/1.1\r\nHost: example\r\nAccept: */*\r\n\r\n......",
                "001f:0001:000011:a1b2c3:00001234:ffffffff12345000:0000000g\0",
                "001f:0001:000011:a1b2c3:00001234:ffffffff12345000:000000000",
                "-01f:0001:000011:a1b2c3:00001234:ffffffff12345000:00000000\0",
                "0000:0010:000011:a1b2c3:fedcba98:00007f0012345000:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:01:000000000\0",
                "0000:0010:000011:a1b2c3:fedcba98:00007f0012345000:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:0001::00000000:\0",
            })
    void anInvalidTextIsRejected(String text) {
        assertThatThrownBy(() -> decode(text))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("peer speaks a different protocol than ib_write_bw");
    }

    private static String text(PerftestKey key) {
        return new String(key.encode(), StandardCharsets.US_ASCII);
    }

    private static PerftestKey decode(String text) {
        return PerftestKey.decode(text.getBytes(StandardCharsets.US_ASCII), "peer", "ib_write_bw");
    }
}
