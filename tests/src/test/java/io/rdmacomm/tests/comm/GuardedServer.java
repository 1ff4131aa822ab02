package io.rdmacomm.tests.comm;

import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.Tls;
import io.rdmacomm.tests.fixture.Certificates;
import io.rdmacomm.tests.fixture.JavaCommand;
import io.rdmacomm.verbs.RdmaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Writer;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A server in a process of its own, whose memory, threads and connections can be read from outside. It receives
/// messages, and closes endpoints when their clients are done.
final class GuardedServer implements AutoCloseable {
    /// So long that no stranger runs into it: all stay that the server keeps.
    private static final Duration STEP = Duration.ofMinutes(5);

    /// The requirement that clients must meet.
    enum Guard {
        NOTHING,
        SECRET,
        TLS;

        /// The options of an honest side.
        SessionOptions options() {
            SessionOptions options = SessionOptions.defaults()
                    .withAddress("127.0.0.1", 0)
                    .withThreadMode(ThreadMode.SHARED_CQ)
                    .withDeadlines(Deadlines.defaults().withHandshake(STEP));
            return switch (this) {
                case NOTHING -> options;
                case SECRET ->
                    options.withSecret(Secret.of("a secret of 25 characters".getBytes(StandardCharsets.UTF_8)));
                case TLS -> options.withTls(tls(Certificates.ofThisRun()));
            };
        }
    }

    private static Tls tls(Certificates files) {
        return Tls.read(files.here(), files.authority(), files.password());
    }

    /// Bytes of the heap and of direct buffers after a collection, and all resident memory of the process except shared
    /// memory, which holds the endpoints of honest clients.
    record Memory(long heap, long buffers, long resident) {}

    private final Process process;
    private final BufferedReader output;
    private final Writer input;
    private final int port;

    /// Starts it.
    GuardedServer(Guard guard) throws IOException {
        List<String> options = new ArrayList<>(List.of(
                // The heap is in memory from the beginning, and no threads of the JVM come and go.
                "-Xms96m", "-Xmx96m", "-XX:+AlwaysPreTouch", "-XX:-UseDynamicNumberOfCompilerThreads"));
        Stream.of("rdmacomm.soft.directory")
                .filter(name -> System.getProperty(name) != null)
                .forEach(name -> options.add("-D" + name + "=" + System.getProperty(name)));
        List<String> command = JavaCommand.of(GuardedServer.class, options);
        command.add(guard.name());
        Certificates files = Certificates.ofThisRun();
        Stream.of(files.here(), files.authority(), files.password())
                .map(Path::toString)
                .forEach(command::add);
        this.process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.output = process.inputReader();
        this.input = process.outputWriter();
        this.port = Integer.parseInt(output.readLine());
    }

    int port() {
        return port;
    }

    Memory memory() throws IOException {
        input.write("memory\n");
        input.flush();
        String[] numbers = output.readLine().split(" ", -1);
        return new Memory(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), status("RssAnon:") * 1024L);
    }

    int threads() throws IOException {
        return status("Threads:");
    }

    private int status(String name) throws IOException {
        for (String line : Files.readAllLines(folder().resolve("status"))) {
            if (line.startsWith(name)) {
                return Integer.parseInt(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("no " + name);
    }

    private Path folder() {
        return Path.of("/proc", Long.toString(process.pid()));
    }

    /// The TCP connections that the process has begun: those whose local port is none that it listens on.
    List<String> outgoing() throws IOException {
        Set<String> own = sockets();
        Set<String> listening = new HashSet<>();
        List<String[]> connections = new ArrayList<>();
        for (String table : List.of("net/tcp", "net/tcp6")) {
            for (String line : Files.readAllLines(folder().resolve(table))) {
                String[] fields = line.strip().split(" +", -1);
                if (fields.length > 9 && own.contains(fields[9])) {
                    String port = fields[1].substring(fields[1].indexOf(':') + 1);
                    if (fields[3].equals("0A")) {
                        listening.add(port);
                    } else {
                        connections.add(new String[] {port, fields[1] + " -> " + fields[2] + " state " + fields[3]});
                    }
                }
            }
        }
        return connections.stream()
                .filter(connection -> !listening.contains(connection[0]))
                .map(connection -> connection[1])
                .toList();
    }

    /// The inodes of the sockets of the process.
    private Set<String> sockets() throws IOException {
        Set<String> inodes = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder().resolve("fd"))) {
            for (Path file : files) {
                String target = target(file);
                if (target != null && target.startsWith("socket:[")) {
                    inodes.add(target.substring(8, target.length() - 1));
                }
            }
        }
        return inodes;
    }

    private static @Nullable String target(Path link) throws IOException {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (NoSuchFileException e) {
            // It was closed meanwhile.
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            var _ = process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }

    /// `GUARD KEYS TRUSTED PASSWORD`: prints its port; answers `memory` on its standard input; ends with it.
    public static void main(String[] arguments) throws IOException {
        Guard guard = Guard.valueOf(arguments[0]);
        SessionOptions options = guard == Guard.TLS
                ? Guard.NOTHING
                        .options()
                        .withTls(Tls.read(Path.of(arguments[1]), Path.of(arguments[2]), Path.of(arguments[3])))
                : guard.options();
        SessionListener listener = new SessionListener() {
            @Override
            public void onEndPoint(EndPoint endPoint) {
                endPoint.channel(0).onMessage((channel, message) -> {});
            }

            @Override
            public void onEnd(EndPoint endPoint, @Nullable RdmaException failure) {
                endPoint.close();
            }
        };
        PrintStream out = System.out;
        try (ServerSession session = ServerSession.listen(options.withListener(listener))) {
            out.println(session.port());
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            while (in.readLine() != null) {
                System.gc();
                long heap =
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
                long buffers = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .mapToLong(BufferPoolMXBean::getMemoryUsed)
                        .sum();
                out.println(heap + " " + buffers);
            }
        }
    }
}
