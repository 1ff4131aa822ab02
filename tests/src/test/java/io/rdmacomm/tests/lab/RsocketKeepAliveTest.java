package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.RdmaSelectorProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Keepalive in both directions with `rstream` of librdmacm, whose process is stopped for a while. The kernel answers
/// for
/// it, so the connection stays.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class RsocketKeepAliveTest {
    private static final int PORT = 7475;
    private static final int SYNC_BYTES = 16;
    private static final int BYTES = 5000;

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void aProgramThatIsStoppedStays(String device, String address) throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(new InetSocketAddress(InetAddress.ofLiteral(address), PORT));
            Process client =
                    CProgram.start("rstream -s " + address + " -p " + PORT + " -S " + BYTES + " -C 1 -I 1 -T v -k 1");
            try (SocketChannel channel = listening.accept()) {
                channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
                channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1);
                channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 2);
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                ByteBuffer sync = read(channel, SYNC_BYTES);
                Shell.run("kill -STOP $(pidof rstream)");
                TimeUnit.SECONDS.sleep(8);
                Shell.run("kill -CONT $(pidof rstream)");
                channel.write(sync);
                ByteBuffer bytes = read(channel, BYTES);
                // Both ask for a while.
                TimeUnit.SECONDS.sleep(8);
                channel.write(bytes);
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            CProgram.assertEndsWell(client);
        }
    }

    private static ByteBuffer read(SocketChannel channel, int bytes) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocate(bytes);
        while (buffer.hasRemaining()) {
            assertThat(channel.read(buffer)).isPositive();
        }
        return buffer.flip();
    }
}
