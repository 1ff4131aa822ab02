package io.rdmacomm.tests.comm;

import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.FolderClasses;
import io.rdmacomm.tests.fixture.JavaCommand;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A server in a process of its own that has few file descriptors and a small heap, and can fill the heap. It
/// counts the messages that it receives.
final class ExhaustedServer implements AutoCloseable {
    private static final int TAKING_ROUNDS = 5;
    private static final long TAKING_PAUSE_NANOS = 50_000_000;
    private static final long FULL_NANOS = Duration.ofMillis(60).toNanos();

    private final Process process;
    private final BufferedReader output;
    private final Writer input;
    private final int port;

    /// Starts it.
    ///
    /// @param descriptors how many it may have
    /// @param heap for `-Xmx`
    ExhaustedServer(int descriptors, String heap) throws IOException {
        List<String> options = new ArrayList<>(List.of("-Xmx" + heap));
        Stream.of("rdmacomm.soft.directory")
                .filter(name -> System.getProperty(name) != null)
                .forEach(name -> options.add("-D" + name + "=" + System.getProperty(name)));
        List<String> command =
                new ArrayList<>(List.of("bash", "-c", "ulimit -n " + descriptors + " && exec \"$@\"", "bash"));
        command.addAll(JavaCommand.of(ExhaustedServer.class, options));
        // The logs of a process without memory are long and say nothing.
        this.process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        this.output = process.inputReader();
        this.input = process.outputWriter();
        this.port = Integer.parseInt(output.readLine());
    }

    int port() {
        return port;
    }

    /// The file descriptors that it has open.
    long descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(process.pid()), "fd"))) {
            return files.count();
        }
    }

    /// Has it fill its heap again and again.
    ///
    /// @return the threads of the library that have ended meanwhile
    String fill() throws IOException {
        return ask("fill");
    }

    /// Has it open files until it may have only one more.
    void takeDescriptors() throws IOException {
        ask("take");
    }

    /// Has it close these files.
    void freeDescriptors() throws IOException {
        ask("free");
    }

    /// How its end of the first connection is: the state, and why it has failed.
    String endPoint() throws IOException {
        return ask("endpoint");
    }

    /// How many messages it has received.
    long received() throws IOException {
        return Long.parseLong(ask("received"));
    }

    private String ask(String what) throws IOException {
        input.write(what + "\n");
        input.flush();
        return output.readLine();
    }

    /// Lets it end in order.
    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(Duration.ofMinutes(1))) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }

    /// Prints its port, and answers.
    public static void main(String[] arguments) throws IOException, ClassNotFoundException {
        FolderClasses.load();
        AtomicLong received = new AtomicLong();
        AtomicReference<@Nullable EndPoint> first = new AtomicReference<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onEndPoint(EndPoint endPoint) {
                first.compareAndSet(null, endPoint);
                endPoint.channel(0).onMessage((channel, message) -> received.incrementAndGet());
            }
        };
        List<InputStream> files = new ArrayList<>();
        SessionOptions options =
                SessionOptions.defaults().withAddress("127.0.0.1", 0).withListener(listener);
        try (ServerSession session = ServerSession.listen(options)) {
            System.out.println(session.port());
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("fill")) {
                    Set<String> before = serviceThreads();
                    for (int i = 0; i < 25; i++) {
                        fillOnce();
                    }
                    before.removeAll(serviceThreads());
                    System.out.println(before);
                } else if (line.equals("take")) {
                    take(files);
                    System.out.println(files.size());
                } else if (line.equals("free")) {
                    for (InputStream file : files) {
                        file.close();
                    }
                    System.out.println();
                } else if (line.equals("endpoint")) {
                    EndPoint endPoint = Objects.requireNonNull(first.get());
                    System.out.println(endPoint.state() + " " + endPoint.failure());
                } else {
                    System.out.println(received);
                }
            }
        }
    }

    /// Takes all descriptors but one, also those that other threads have only for a moment, to load a class.
    private static void take(List<InputStream> files) throws IOException {
        for (int round = 0; round < TAKING_ROUNDS; round++) {
            takeAll(files);
            LockSupport.parkNanos(TAKING_PAUSE_NANOS);
        }
        takeAll(files);
        files.removeLast().close();
    }

    private static void takeAll(List<InputStream> files) {
        try {
            while (true) {
                files.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            // None is left.
        }
    }

    private static Set<String> serviceThreads() {
        Set<String> names = new TreeSet<>();
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && !thread.isVirtual())
                .map(Thread::getName)
                .filter(name -> name.startsWith("rdmacomm-") || name.startsWith("soft"))
                .forEach(names::add);
        return names;
    }

    /// Keeps the heap full for a moment, down to the last bytes.
    static void fillOnce() {
        // Counted from the first time that it is full: on a busy machine that takes longer.
        long[] end = {Long.MAX_VALUE};
        while (System.nanoTime() < end[0]) {
            try {
                fill(end);
            } catch (OutOfMemoryError e) {
                // Catching the one before needed memory.
                Thread.onSpinWait();
            }
        }
    }

    private static void fill(long[] end) {
        Object[] kept = {null};
        while (System.nanoTime() < end[0]) {
            for (int size = 1 << 20; size >= 16; size /= 4) {
                try {
                    while (System.nanoTime() < end[0]) {
                        kept = new Object[] {kept, new byte[size]};
                    }
                } catch (OutOfMemoryError e) {
                    end[0] = Math.min(end[0], System.nanoTime() + FULL_NANOS);
                }
            }
        }
    }
}
