package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.ByAddress;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.JavaCommand;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.OtherDevices;
import io.rdmacomm.tests.fixture.Signals;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// A process ends, or is killed, and has not closed its sockets. The kernel's sockets show what Java users expect.
@ExtendWith(LeakCheck.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class ProcessEndTest {
    private static final int BYTES = 100_000;
    private static final int MANY = 40;
    private static final int QUIET_MILLIS = 500;
    private static final String DEVICES = "rdmacomm.soft.devices";

    /// How the bytes travel.
    enum Way {
        KERNEL(""),
        SHARED_MEMORY("soft0"),
        TCP("tcp0"),
        ROCE("roce0");

        private final String device;

        Way(String device) {
            this.device = device;
        }

        SelectorProvider provider() {
            return this == KERNEL ? SelectorProvider.provider() : RdmaSelectorProvider.of(device, "*");
        }

        InetAddress address() {
            return this == ROCE ? InetAddress.ofLiteral(Fabric.ownAddress(0)) : InetAddress.getLoopbackAddress();
        }
    }

    /// The server in this process, and a client in another one.
    private static final class Ends implements AutoCloseable {
        private final SelectorProvider provider;
        private final ServerSocketChannel listening;
        private final Process client;
        private final SocketChannel server;

        Ends(Way way, String role) throws IOException {
            // Makes the devices of the tests, if no other test has done that.
            var _ = Fabric.devices();
            provider = way.provider();
            listening = provider.openServerSocketChannel().bind(new InetSocketAddress(way.address(), 0));
            InetSocketAddress at = (InetSocketAddress) listening.getLocalAddress();
            client = start(way, at.getAddress(), at.getPort(), role);
            server = listening.accept();
        }

        /// Waits until the client is where its role wants it to be.
        void awaitReady() throws IOException {
            assertThat(client.inputReader().readLine()).isEqualTo("ready");
        }

        private int read() throws IOException {
            return server.read(ByteBuffer.allocate(8192));
        }

        int readToTheEnd() throws IOException {
            int total = 0;
            ByteBuffer some = ByteBuffer.allocate(8192);
            while (server.read(some.clear()) >= 0) {
                for (byte each : Arrays.copyOf(some.array(), some.position())) {
                    assertThat(each).isEqualTo((byte) total);
                    total++;
                }
            }
            return total;
        }

        @Override
        public void close() throws IOException {
            server.close();
            listening.close();
            client.destroyForcibly().onExit().join();
            Sockets.close(provider);
        }
    }

    private static Process start(Way way, InetAddress address, int port, String role) throws IOException {
        List<String> command =
                JavaCommand.of(ProcessEndTest.class, List.of("-D" + DEVICES + "=" + Fabric.devicesOfProcess(0)));
        command.addAll(List.of(way.name(), address.getHostAddress(), Integer.toString(port), role));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /// The other process.
    public static void main(String[] arguments) throws Exception {
        Way way = Way.valueOf(arguments[0]);
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.ofLiteral(arguments[1]), Integer.parseInt(arguments[2]));
        switch (arguments[3]) {
            case "serve" -> serve(way.provider(), address);
            case "verbs" -> {
                LocalEnd end = LocalEnd.open(way.device);
                end.queue(Spec.usual()).connectTo(arguments[1], address.getPort(), ConnectionOptions.defaults());
                System.exit(0);
            }
            case "many" -> connectMany(way.provider(), address);
            case "hookBefore" -> {
                SocketChannel channel = way.provider().openSocketChannel();
                Runtime.getRuntime().addShutdownHook(lastOfFew(() -> answerTheLastRequest(channel)));
                channel.connect(address);
                System.exit(0);
            }
            default -> {
                SocketChannel channel = way.provider().openSocketChannel();
                channel.connect(address);
                play(arguments[3], channel);
            }
        }
    }

    private static void serve(SelectorProvider provider, InetSocketAddress address) throws IOException {
        ServerSocketChannel listening = provider.openServerSocketChannel().bind(address);
        System.out.println(((InetSocketAddress) listening.getLocalAddress()).getPort());
        List<SocketChannel> accepted = new ArrayList<>();
        while (accepted.size() < MANY) {
            accepted.add(listening.accept());
        }
        System.out.println("ready");
        var _ = System.in.read();
    }

    private static void connectMany(SelectorProvider provider, InetSocketAddress address) throws IOException {
        List<SocketChannel> channels = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            channels.add(provider.openSocketChannel());
            channels.getLast().connect(address);
        }
        var _ = System.in.read();
        for (SocketChannel each : channels) {
            each.write(ByteBuffer.allocate(1));
        }
        System.exit(0);
    }

    private static void play(String role, SocketChannel channel) throws Exception {
        switch (role) {
            case "return" -> write(channel);
            case "exit" -> {
                write(channel);
                System.exit(0);
            }
            case "exitBesideReader" -> {
                CountDownLatch reads = new CountDownLatch(1);
                new Thread(() -> {
                            reads.countDown();
                            readAByte(channel);
                        })
                        .start();
                reads.await();
                write(channel);
                System.exit(0);
            }
            case "close" -> {
                write(channel);
                channel.close();
                System.exit(0);
            }
            case "hook" -> {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> answerTheLastRequest(channel)));
                System.exit(0);
            }
            case "idle" -> waitHere();
            case "half" -> {
                channel.shutdownOutput();
                waitHere();
            }
            default -> {
                write(channel);
                waitHere();
            }
        }
    }

    private static void waitHere() throws InterruptedException {
        System.out.println("ready");
        Thread.currentThread().join();
    }

    private static void write(SocketChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        for (int i = 0; i < BYTES; i++) {
            bytes.put((byte) i);
        }
        bytes.flip();
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    private static void readAByte(SocketChannel channel) {
        try {
            channel.read(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A hook that the JVM would wait for last if there were up to 32 hooks: it looks at this part of the hash code.
    private static Thread lastOfFew(Runnable action) {
        Thread thread;
        do {
            thread = new Thread(action);
        } while ((System.identityHashCode(thread) & 31) != 31);
        return thread;
    }

    private static void answerTheLastRequest(SocketChannel channel) {
        readAByte(channel);
        try {
            write(channel);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---- An end in order ----

    @ParameterizedTest
    @CsvSource({
        "KERNEL, return",
        "SHARED_MEMORY, return",
        "SHARED_MEMORY, exit",
        "SHARED_MEMORY, exitBesideReader",
        "TCP, return",
        "TCP, exit",
        "TCP, exitBesideReader",
        "ROCE, return",
        "ROCE, exit",
        "ROCE, exitBesideReader",
        "ROCE, close"
    })
    void allBytesArriveAndThenTheEnd(Way way, String role) throws Exception {
        try (Ends ends = new Ends(way, role)) {
            assertThat(ends.readToTheEnd()).isEqualTo(BYTES);
            assertThat(ends.client.waitFor()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSignalToEndIsAnEndInOrder(Way way) throws Exception {
        try (Ends ends = new Ends(way, "wait")) {
            ends.awaitReady();
            ends.client.destroy();
            assertThat(ends.readToTheEnd()).isEqualTo(BYTES);
            assertThat(ends.client.waitFor()).isEqualTo(143);
        }
    }

    /// Frameworks answer the last requests in hooks, which they may add before the first connection or later.
    @ParameterizedTest
    @CsvSource({
        "KERNEL, hook",
        "SHARED_MEMORY, hook",
        "SHARED_MEMORY, hookBefore",
        "TCP, hook",
        "TCP, hookBefore",
        "ROCE, hook",
        "ROCE, hookBefore"
    })
    void hooksOfTheProgramUseTheirSockets(Way way, String role) throws Exception {
        try (Ends ends = new Ends(way, role)) {
            ends.server.socket().setSoTimeout(QUIET_MILLIS);
            InputStream input = ends.server.socket().getInputStream();
            assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(input::read);
            ends.server.write(ByteBuffer.allocate(1));
            assertThat(ends.readToTheEnd()).isEqualTo(BYTES);
            assertThat(ends.client.waitFor()).isZero();
        }
    }

    @Test
    void peersThatAreStoppedDelayTheEndBySecondsAtMost() throws Exception {
        Way way = Way.TCP;
        Process server = start(way, way.address(), 0, "serve");
        Process client = null;
        try {
            BufferedReader output = server.inputReader();
            client = start(way, way.address(), Integer.parseInt(output.readLine()), "many");
            assertThat(output.readLine()).isEqualTo("ready");
            Signals.freeze(server);
            long begin = System.nanoTime();
            client.outputWriter().append('\n').close();
            assertThat(client.waitFor()).isZero();
            assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(10));
        } finally {
            server.destroyForcibly().waitFor();
            if (client != null) {
                client.destroyForcibly().waitFor();
            }
        }
    }

    /// Queue pairs without sockets, as on adapters.
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "KERNEL")
    void connectionsByAddressAreDisconnected(Way way) throws Exception {
        Process client = null;
        try (LocalEnd here = LocalEnd.open(way.device);
                ConnectionManager manager = ConnectionManager.open(here.context());
                ByAddress waiting = ByAddress.await(
                        manager, way.address(), here.queue(Spec.usual()).queuePair(), ConnectionOptions.defaults())) {
            client = start(way, way.address(), waiting.address().getPort(), "verbs");
            try (Connection connection = waiting.connection()) {
                assertThat(connection.awaitDisconnect(Duration.ofSeconds(20))).isTrue();
                assertThat(connection.disconnectReason()).matches("the peer (disconnected|has ended the connection)");
            }
        } finally {
            if (client != null) {
                client.destroyForcibly().waitFor();
            }
        }
    }

    // ---- A kill ----

    @ParameterizedTest
    @ValueSource(strings = {"SHARED_MEMORY", "TCP"})
    void aKillIsAReset(Way way) throws Exception {
        try (Ends ends = new Ends(way, "wait")) {
            ends.awaitReady();
            ends.client.destroyForcibly();
            assertThatExceptionOfType(SocketException.class)
                    .isThrownBy(ends::readToTheEnd)
                    .withMessage("Connection reset");
        }
    }

    /// Nothing but the silence shows it. The client has sent nothing over its queue pair.
    @Test
    @Tag("slow")
    void aKillOverRoceIsAResetAfterTheSilence() throws Exception {
        String address = Fabric.ownAddress(0);
        try (OtherDevices _ = OtherDevices.and("attentive=" + address + "?transport=roce&silence=4");
                RdmaSelectorProvider provider = RdmaSelectorProvider.of("attentive", "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(new InetSocketAddress(InetAddress.ofLiteral(address), 0));
            int port = ((InetSocketAddress) listening.getLocalAddress()).getPort();
            Process client = start(Way.ROCE, InetAddress.ofLiteral(address), port, "idle");
            try (SocketChannel server = listening.accept()) {
                assertThat(client.inputReader().readLine()).isEqualTo("ready");
                client.destroyForcibly().waitFor();
                assertThatExceptionOfType(SocketException.class)
                        .isThrownBy(() -> server.read(ByteBuffer.allocate(1)))
                        .withMessage("Connection reset");
            } finally {
                client.destroyForcibly();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStreamThatHasEndedStaysEnded(Way way) throws Exception {
        try (Ends ends = new Ends(way, "half")) {
            ends.awaitReady();
            assertThat(ends.read()).isEqualTo(-1);
            ends.client.destroyForcibly().waitFor();
            // The end of the process is noticed by the side that writes.
            if (way != Way.ROCE) {
                assertThatExceptionOfType(IOException.class).isThrownBy(() -> {
                    while (true) {
                        ends.server.write(ByteBuffer.allocate(8192));
                    }
                });
            }
            assertThat(ends.read()).isEqualTo(-1);
        }
    }
}
