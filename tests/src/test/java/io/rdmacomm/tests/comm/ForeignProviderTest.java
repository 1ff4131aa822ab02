package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.verbs.service.SystemSockets;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A JVM whose sockets are made by somebody else: those of rdmacomm are still the JDK's.
final class ForeignProviderTest {
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"sharedMemory=true, NUMBERS", "sharedMemory=false, NUMBERS", "sharedMemory=false, CONNECTION_MANAGER"})
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void sessionsUseTheProviderThatTheyWereGiven(String option, String setup) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Djava.nio.channels.spi.SelectorProvider=" + Refusing.class.getName(),
                        "-Drdmacomm.soft.devices=soft0=127.0.0.1?" + option,
                        "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Exchange.class.getName(),
                        setup)
                .inheritIO()
                .start();
        assertThat(process.waitFor()).isZero();
    }

    /// A server, a client and a message.
    static final class Exchange {
        private static final Duration TIMEOUT = Duration.ofSeconds(30);

        private Exchange() {}

        public static void main(String[] arguments) throws ReflectiveOperationException {
            SystemSockets.use((SelectorProvider) Class.forName("sun.nio.ch.DefaultSelectorProvider")
                    .getMethod("get")
                    .invoke(null));
            SessionOptions options =
                    SessionOptions.defaults().withDevice("soft0").withPort(0).withSetup(Setup.valueOf(arguments[0]));
            try (ServerSession server = ServerSession.listen(options);
                    ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
                EndPoint here = server.accept(TIMEOUT);
                RdmaBuffer text = client.allocate("text", 8);
                client.endPoint().channel(0).blocking(TIMEOUT).send(text.whole());
                here.channel(0).blocking(TIMEOUT).receive().close();
            }
        }
    }

    /// Opens nothing.
    public static final class Refusing extends SelectorProvider {
        /// As the JVM wants it.
        public Refusing() {}

        private static UnsupportedOperationException refused() {
            return new UnsupportedOperationException("opened with the provider of the JVM");
        }

        @Override
        public DatagramChannel openDatagramChannel() {
            throw refused();
        }

        @Override
        public DatagramChannel openDatagramChannel(ProtocolFamily family) {
            throw refused();
        }

        @Override
        public Pipe openPipe() {
            throw refused();
        }

        @Override
        public AbstractSelector openSelector() {
            throw refused();
        }

        @Override
        public ServerSocketChannel openServerSocketChannel() {
            throw refused();
        }

        @Override
        public SocketChannel openSocketChannel() {
            throw refused();
        }
    }
}
