package io.rdmacomm.soft.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.transport.GroupSocket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MulticastSocketsTest {
    private static final String HERE = "127.0.0.89";

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 64, 255})
    void whatIsSentStaysWithinItsHops(int hops) throws IOException {
        try (GroupSocket socket = new MulticastSockets(InetAddress.ofLiteral(HERE)).send(hops)) {
            assertThat(socket.channel().getOption(StandardSocketOptions.IP_MULTICAST_TTL))
                    .isEqualTo(hops);
            assertThat(socket.channel().getOption(StandardSocketOptions.IP_MULTICAST_LOOP))
                    .isTrue();
            NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1"));
            assertThat(socket.channel().getOption(StandardSocketOptions.IP_MULTICAST_IF))
                    .isEqualTo(loopback);
            assertThat(socket.port()).isPositive();
        }
    }

    @Test
    void anAddressThatIsGoneHasNoInterface() {
        assertThatThrownBy(() -> new MulticastSockets(InetAddress.ofLiteral("203.0.113.9"))
                        .join(InetAddress.ofLiteral("239.1.7.3")))
                .isInstanceOf(SocketException.class)
                .hasMessageContaining("203.0.113.9");
    }
}
