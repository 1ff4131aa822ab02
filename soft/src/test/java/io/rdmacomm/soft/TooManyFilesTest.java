package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.HostError;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.shm.ShmPeer;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A process that may open no more files is called: it can take the call later, and does not burn its processor
/// until then.
@Timeout(60)
class TooManyFilesTest {
    private static final int FILES = 256;
    private static final int TRIES = 11;
    // Constants of primitive types alone: a class that the program still had to load would need a file.
    private static final long TIMEOUT_NANOS = 30_000_000_000L;

    @Test
    void aCallWaitsUntilFilesCanBeOpenedAgain() throws Exception {
        ProcessBuilder program = OtherJvm.running(Program.class, "-XX:-MaxFDLimit");
        program.command().addAll(0, List.of("bash", "-c", "ulimit -n " + FILES + "; exec \"$@\"", "bash"));
        Process process = program.start();
        try (BufferedReader answers = process.inputReader();
                PrintWriter orders = new PrintWriter(process.outputWriter(), true)) {
            int port = Integer.parseInt(answers.readLine());
            // One calls over TCP, one at the socket for peers on this host.
            try (SocketChannel stranger =
                            SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                    SocketChannel neighbor = SocketChannel.open(
                            UnixDomainSocketAddress.of(ShmDirectory.folder(port).resolve(ShmPeer.SOCKET)))) {
                assertThat(neighbor.isConnected()).isTrue();
                stranger.write(ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
                long start = System.nanoTime();
                orders.println();
                Duration used = Duration.ofNanos(Long.parseLong(answers.readLine()));
                Duration passed = Duration.ofNanos(System.nanoTime() - start);
                assertThat(used)
                        .as("used by all threads in %s", passed)
                        .isLessThan(passed.dividedBy(2))
                        .isLessThan(Duration.ofMillis(500));
                assertThat(stranger.read(ByteBuffer.allocate(1)))
                        .as("it has read that")
                        .isNegative();
            }
            orders.println();
            assertThat(process.waitFor()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /// Not "enlarge /dev/shm": there is room enough.
    @Test
    void aDeviceThatCannotBeOpenedNamesTheLimit() throws Exception {
        eachFailureNamesTheLimit(Opener.class);
    }

    /// Not "no route": the network is well.
    @Test
    void aRouteThatCannotBeAskedForNamesTheLimit() throws Exception {
        eachFailureNamesTheLimit(Resolver.class);
    }

    private static void eachFailureNamesTheLimit(Class<?> main) throws Exception {
        ProcessBuilder program = OtherJvm.running(main, "-XX:-MaxFDLimit");
        program.command().addAll(0, List.of("bash", "-c", "ulimit -n " + FILES + "; exec \"$@\"", "bash"));
        Process process = program.start();
        try (BufferedReader answers = process.inputReader()) {
            List<String> lines = answers.lines().toList();
            assertThat(process.waitFor()).isZero();
            assertThat(lines)
                    .isNotEmpty()
                    .allSatisfy(line -> assertThat(line)
                            .contains("failed: EMFILE", "Too many open files", "ulimit -n")
                            .doesNotContain("enlarge", "no route"));
        } finally {
            process.destroyForcibly();
        }
    }

    /// Opens contexts until that fails, then leaves fewer and fewer files open, so that it fails at other
    /// places, and prints each reason. At the end a context can be opened.
    static final class Opener {
        public static void main(String[] arguments) throws IOException {
            Device device = Soft.device("soft0=127.0.0.1");
            device.open().close();
            // Loads its class while there are files.
            HostError.of(new IOException("Too many open files"), Errno.ENOSPC).failure("open", "", new IOException());
            List<FileInputStream> files = Program.openAll();
            while (true) {
                try {
                    device.open().close();
                    break;
                } catch (VerbException e) {
                    System.out.println(e.getMessage());
                    files.removeLast().close();
                }
            }
            for (FileInputStream file : files) {
                file.close();
            }
        }
    }

    /// Resolves a route when there are no files, prints the reason of the failure, and resolves it afterwards.
    static final class Resolver {
        public static void main(String[] arguments) throws Exception {
            Device device = Soft.device("soft0=127.0.0.1");
            InetSocketAddress destination = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
            try (Context context = device.open();
                    ConnectionManager manager = ConnectionManager.open(context)) {
                manager.resolve(destination, Duration.ofSeconds(5)).close();
                HostError.of(new IOException("Too many open files"), Errno.ENOSPC)
                        .failure("open", "", new IOException());
                List<FileInputStream> files = Program.openAll();
                try {
                    manager.resolve(destination, Duration.ofSeconds(5)).close();
                } catch (VerbException e) {
                    System.out.println(e.getMessage());
                }
                for (FileInputStream file : files) {
                    file.close();
                }
                manager.resolve(destination, Duration.ofSeconds(5)).close();
            }
        }
    }

    /// Listens, opens all files that it can, and says where it listens. At the first line of its input it waits
    /// until calls could not be taken so many times, says how much processor time it has used, and closes the
    /// files; at the second it ends.
    static final class Program {
        public static void main(String[] arguments) throws IOException {
            Device device = Soft.device("tcp0=127.0.0.1?sharedMemory=false");
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            try (Context context = device.open()) {
                // The first time, these open files of the JDK's.
                if (processorNanos() == 0 || pauses(context) > 0) {
                    throw new IllegalStateException("this JVM does not tell, or has too few files");
                }
                List<FileInputStream> files = openAll();
                long before = processorNanos();
                System.out.println(Soft.of(context).lid());
                orders.readLine();
                long start = System.nanoTime();
                while (pauses(context) < TRIES) {
                    if (System.nanoTime() - start > TIMEOUT_NANOS) {
                        throw new IllegalStateException("all calls were taken");
                    }
                    LockSupport.parkNanos(1_000_000);
                }
                System.out.println(processorNanos() - before);
                for (FileInputStream file : files) {
                    file.close();
                }
                orders.readLine();
            }
        }

        private static long pauses(Context context) {
            return Soft.counter(context, "tcp_accept_pauses");
        }

        static List<FileInputStream> openAll() {
            List<FileInputStream> files = new ArrayList<>();
            while (files.size() < FILES) {
                try {
                    files.add(new FileInputStream("/dev/null"));
                } catch (IOException e) {
                    return files;
                }
            }
            throw new IllegalStateException("there is no limit");
        }

        private static long processorNanos() {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            long sum = 0;
            for (long thread : threads.getAllThreadIds()) {
                sum += Math.max(0, threads.getThreadCpuTime(thread));
            }
            return sum;
        }
    }
}
