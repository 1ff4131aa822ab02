package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GidTest {
    @Test
    void anIpv4AddressIsMapped() throws Exception {
        Gid gid = Gid.of(InetAddress.getByAddress(new byte[] {10, 0, (byte) 200, (byte) 255}));

        assertThat(gid).isEqualTo(new Gid(0, 0xffff_0a00_c8ffL));
        assertThat(gid).hasToString("::ffff:10.0.200.255");
        assertThat(gid.bytes()).containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 200, 255);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "192.168.1.200", "255.255.255.255", "fe80:0:0:0:1:2:3:ff04", "2001:db8::1"})
    void anAddressIsUnchangedAfterConversionToAGidAndBack(String text) throws Exception {
        InetAddress address = InetAddress.getByName(text);

        assertThat(Gid.of(address).address()).isEqualTo(address);
    }

    @Test
    void printsLikeIbvDevinfo() {
        assertThat(new Gid(0xfe80_0000_0000_0000L, 0x0202_c903_0000_00ffL))
                .hasToString("fe80:0000:0000:0000:0202:c903:0000:00ff");
        assertThat(Gid.NONE).hasToString("0000:0000:0000:0000:0000:0000:0000:0000");
    }
}
