package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.FarNamespace;
import io.rdmacomm.tests.fixture.JavaCommand;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.Signals;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// Idle connections to another host that says nothing any more: no FIN, no RST. The devices would notice that only
/// after hours.
@Tag("slow")
@ExtendWith(LeakCheck.class)
@Timeout(120)
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"iwarp", "roce"})
class SilentPeerTest {
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final String DIRECTORY = "rdmacomm.soft.directory";
    private static final String DEVICE = "careless";
    private static final long SECONDS = 1_000_000_000L;

    @Parameter
    private String transport;

    private final String devices = System.getProperty(DEVICES);
    private FarNamespace far;
    private Path folder;
    private Process server;
    private RdmaSelectorProvider provider;
    private SocketChannel channel;

    private String deviceAt(String address) {
        return DEVICE + "=" + address + "?silence=30000&transport=" + transport;
    }

    @BeforeEach
    void connect() throws Exception {
        far = FarNamespace.orLeaveOut(SilentPeerTest.class);
        System.setProperty(DEVICES, deviceAt(far.near()));
        folder = Files.createTempDirectory(Path.of("/dev/shm"), "rdmacomm-far-");
        List<String> properties = List.of("-D" + DEVICES + "=" + deviceAt(far.far()), "-D" + DIRECTORY + "=" + folder);
        List<String> command = new ArrayList<>(far.launcher());
        command.addAll(JavaCommand.of(SilentPeerTest.class, properties));
        command.add(far.far());
        server = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int port = Integer.parseInt(server.inputReader().readLine());
        provider = RdmaSelectorProvider.of(DEVICE, "*");
        channel = provider.openSocketChannel();
        channel.connect(new InetSocketAddress(InetAddress.ofLiteral(far.far()), port));
        assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(1);
    }

    /// The other host: sends a byte to one client, and waits.
    public static void main(String[] arguments) throws IOException {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(DEVICE, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(new InetSocketAddress(InetAddress.ofLiteral(arguments[0]), 0));
            System.out.println(((InetSocketAddress) listening.getLocalAddress()).getPort());
            try (SocketChannel accepted = listening.accept()) {
                accepted.write(ByteBuffer.allocate(1));
                var _ = System.in.read();
            }
        }
    }

    @AfterEach
    void close() throws Exception {
        if (channel != null) {
            channel.close();
            provider.close();
        }
        if (server != null) {
            server.destroyForcibly().waitFor();
        }
        if (devices != null) {
            System.setProperty(DEVICES, devices);
        } else {
            System.clearProperty(DEVICES);
        }
        if (folder != null) {
            try (Stream<Path> left = Files.walk(folder)) {
                for (Path each : left.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }

    private void timesOut() throws IOException {
        channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
        channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1);
        channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 3);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        long begin = System.nanoTime();
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> channel.read(ByteBuffer.allocate(1)))
                .withMessage("Connection timed out");
        assertThat(System.nanoTime() - begin).isBetween(SECONDS / 2, 30 * SECONDS);
    }

    @Test
    void aHostThatIsGoneIsATimeOut() throws Exception {
        far.cut();
        try {
            timesOut();
        } finally {
            far.mend();
        }
    }

    /// The software device is a part of the program.
    @Test
    void aProgramOnTheSoftwareDeviceThatIsStoppedIsATimeOut() throws Exception {
        Signals.freeze(server);
        timesOut();
    }
}
