package io.rdmacomm.soft.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

class SendBufferTest {
    @Test
    void toAPeerOnThisHostTheQueueStaysShort() throws Exception {
        try (ServerSocketChannel server =
                        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                SocketChannel sender = SocketChannel.open(server.getLocalAddress());
                SocketChannel receiver = server.accept()) {
            receiver.setOption(StandardSocketOptions.SO_RCVBUF, 64 * 1024);

            SendBuffer.limit(sender);

            sender.configureBlocking(false);
            ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
            long taken = 0;
            for (int count = sender.write(bytes); count > 0; count = sender.write(bytes.clear())) {
                taken += count;
            }
            assertThat(taken).as("what the two sockets hold").isPositive().isLessThan(1 << 20);
        }
    }

    @Test
    void oneHostIsALoopbackAddressOrOneAddressAtBothEnds() throws Exception {
        assertThat(isOnOneHost("127.0.0.1", "127.0.0.1")).isTrue();
        assertThat(isOnOneHost("127.0.0.1", "127.0.0.2")).isTrue();
        assertThat(isOnOneHost("::1", "::1")).isTrue();
        assertThat(isOnOneHost("192.0.2.1", "192.0.2.1")).isTrue();
        assertThat(isOnOneHost("192.0.2.1", "192.0.2.2")).isFalse();
        assertThat(isOnOneHost("2001:db8::1", "2001:db8::2")).isFalse();
    }

    private static boolean isOnOneHost(String local, String remote) throws Exception {
        return SendBuffer.isOnOneHost(
                new InetSocketAddress(InetAddress.getByName(local), 1),
                new InetSocketAddress(InetAddress.getByName(remote), 2));
    }
}
