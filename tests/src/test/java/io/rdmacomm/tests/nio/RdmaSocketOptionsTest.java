package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.nio.RdmaSocketOptions;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The options that only sockets over RDMA have.
@ExtendWith(LeakCheck.class)
@Timeout(60)
class RdmaSocketOptionsTest {
    private static final int DEFAULT = 112;

    @ParameterizedTest
    @CsvSource({"112, 100, 130", "1000, 900, 1010", "1, 16, 40"})
    void soManyMessagesMayBeUnread(int messages, int least, int most) throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                ServerSocketChannel server = provider.openServerSocketChannel();
                SocketChannel client = provider.openSocketChannel()) {
            server.setOption(RdmaSocketOptions.MESSAGES, messages);
            client.setOption(RdmaSocketOptions.MESSAGES, messages);
            server.bind(Sockets.anyPort());
            client.connect(server.getLocalAddress());
            try (SocketChannel accepted = server.accept()) {
                assertThat(accepted.getOption(RdmaSocketOptions.MESSAGES)).isEqualTo(messages);
                client.configureBlocking(false);
                int written = 0;
                ByteBuffer one = ByteBuffer.allocate(1);
                while (client.write(one.clear()) == 1) {
                    written++;
                }
                assertThat(written).isBetween(least, most);
                ByteBuffer all = ByteBuffer.allocate(written);
                while (all.hasRemaining()) {
                    accepted.read(all);
                }
            }
        }
    }

    @Test
    void theOptionHasADefaultAndLimits() throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                SocketChannel channel = provider.openSocketChannel()) {
            assertThat(channel.supportedOptions()).contains(RdmaSocketOptions.MESSAGES);
            assertThat(channel.getOption(RdmaSocketOptions.MESSAGES)).isEqualTo(DEFAULT);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> channel.setOption(RdmaSocketOptions.MESSAGES, -1))
                    .withMessageContaining("MESSAGES");
        }
    }

    @Test
    void socketsThatStayWithTcpKeepIt() throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "!*");
                ServerSocketChannel server = provider.openServerSocketChannel();
                SocketChannel client = provider.openSocketChannel()) {
            client.setOption(RdmaSocketOptions.MESSAGES, 500);
            server.bind(Sockets.anyPort());
            client.connect(server.getLocalAddress());
            assertThat(client.getOption(RdmaSocketOptions.MESSAGES)).isEqualTo(500);
            client.setOption(RdmaSocketOptions.MESSAGES, 600);
            assertThat(client.getOption(RdmaSocketOptions.MESSAGES)).isEqualTo(600);
        }
    }
}
