package io.rdmacomm.compare.service;

import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.examples.BlockClient;
import io.rdmacomm.examples.BlockServer;
import io.rdmacomm.examples.BlockService;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/// Measures [BlockServer] beside [SocketBlockServer], each in a process of its own, with one client that reads random
/// values of 64 KiB, one after the other. They take turns, round by round, after rounds that only warm up.
///
/// Arguments: `[ROUNDS [SECONDS]]`. The system property `rdmacomm.soft.devices` is also that of the servers.
public final class ServiceMain {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int VALUES = 1024;
    private static final int WARM_UPS = 2;
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final double GIB = 1 << 30;

    private final List<String> keys = new ArrayList<>();
    private final Random random = new Random(1);

    private interface Reading {
        /// @return the value, which is checked
        ByteBuffer read(String key) throws IOException;
    }

    /// @param server its process
    private record Contestant(String name, ProcessHandle server, Reading reading, List<Result> results) {}

    /// @param rate GiB/s
    /// @param server milliseconds of processor time of the server for each GiB
    /// @param client the same of the client
    private record Result(double rate, double server, double client) {}

    private ServiceMain() {
        for (int key = 0; key < VALUES; key++) {
            keys.add("block " + key);
        }
    }

    /// Measures, and prints a line for each measurement, and the medians.
    public static void main(String[] arguments) throws IOException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
        double seconds = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 3;
        new ServiceMain().measure(rounds, seconds);
    }

    private void measure(int rounds, double seconds) throws IOException {
        long mib = (2L * VALUES * BlockServer.LONGEST) >> 20;
        Process ours = start(BlockService.class, "server", "0", "" + mib);
        Process plain = start(SocketBlockServer.class, "" + mib);
        try {
            SessionOptions options = SessionOptions.defaults().withPort(port(ours));
            try (BlockClient asking = new BlockClient(options, TIMEOUT, 0);
                    BlockClient remembering = new BlockClient(options, TIMEOUT, VALUES);
                    SocketBlockClient sockets = new SocketBlockClient(port(plain))) {
                List<Contestant> contestants = List.of(
                        new Contestant("plain sockets", plain.toHandle(), sockets(sockets), new ArrayList<>()),
                        new Contestant("a question for each READ", ours.toHandle(), ours(asking), new ArrayList<>()),
                        new Contestant("READ under leases", ours.toHandle(), ours(remembering), new ArrayList<>()));
                for (int round = 1 - WARM_UPS; round <= rounds; round++) {
                    for (Contestant contestant : contestants) {
                        Result result = measure(contestant, seconds);
                        String name = round > 0 ? "round " + round : "warm-up";
                        System.out.println(name + ": " + line(contestant.name(), result));
                        if (round > 0) {
                            contestant.results().add(result);
                        }
                    }
                }
                System.out.println("medians:");
                contestants.forEach(each -> System.out.println(line(each.name(), median(each.results()))));
            }
        } finally {
            ours.destroyForcibly();
            plain.destroyForcibly();
        }
    }

    private static Process start(Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path")));
        String devices = System.getProperty(DEVICES);
        if (devices != null) {
            command.add("-D" + DEVICES + "=" + devices);
        }
        command.add(main.getName());
        Collections.addAll(command, arguments);
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    @SuppressWarnings("resource")
    private static int port(Process server) throws IOException {
        BufferedReader output = server.inputReader();
        String line = output.readLine();
        if (line == null) {
            throw new IOException("a server has ended");
        }
        return Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
    }

    private Reading sockets(SocketBlockClient client) throws IOException {
        ByteBuffer value = ByteBuffer.allocateDirect(BlockServer.LONGEST);
        for (String key : keys) {
            client.put(key, value.clear().putInt(0, key.hashCode()));
        }
        return key -> {
            client.get(key, value);
            return value.flip();
        };
    }

    private Reading ours(BlockClient client) {
        RdmaBuffer memory = client.allocate(BlockServer.LONGEST);
        ByteBuffer value = memory.segment().asByteBuffer();
        for (String key : keys) {
            value.putInt(0, key.hashCode());
            client.put(key, memory.segment());
        }
        return key -> value.clear().limit(client.get(key, memory.whole()));
    }

    private Result measure(Contestant contestant, double seconds) throws IOException {
        Duration server = processorTime(contestant.server());
        Duration client = processorTime(ProcessHandle.current());
        long begin = System.nanoTime();
        long bytes = 0;
        double nanos = 0;
        while (nanos < seconds * 1e9) {
            String key = keys.get(random.nextInt(VALUES));
            ByteBuffer value = contestant.reading().read(key);
            if (value.remaining() != BlockServer.LONGEST || value.getInt(0) != key.hashCode()) {
                throw new IllegalStateException(contestant.name() + ": another value than that of " + key);
            }
            bytes += value.remaining();
            nanos = System.nanoTime() - begin;
        }
        double amount = bytes / GIB;
        return new Result(
                amount / nanos * 1e9,
                processorTime(contestant.server()).minus(server).toMillis() / amount,
                processorTime(ProcessHandle.current()).minus(client).toMillis() / amount);
    }

    /// The kernel counts it in steps of 10 ms.
    private static Duration processorTime(ProcessHandle process) {
        return process.info().totalCpuDuration().orElseThrow();
    }

    private static Result median(List<Result> results) {
        return new Result(
                median(results.stream().mapToDouble(Result::rate).toArray()),
                median(results.stream().mapToDouble(Result::server).toArray()),
                median(results.stream().mapToDouble(Result::client).toArray()));
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private static String line(String name, Result result) {
        return String.format(
                Locale.ROOT,
                "%-25s %6.2f GiB/s, processor time for each GiB: server %4.0f ms, client %4.0f ms",
                name,
                result.rate(),
                result.server(),
                result.client());
    }
}
