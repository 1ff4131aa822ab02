package io.rdmacomm.compare;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.compare.Programs.Pair;
import io.rdmacomm.compare.Tool.Description;
import io.rdmacomm.compare.peer.CacheLine;
import io.rdmacomm.compare.peer.JucxProbe;
import io.rdmacomm.compare.peer.PeerMain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The programs that rdmacomm is compared with.
final class Peers {
    private static final String HOST = "127.0.0.1";
    private static final String SERVER = "server";
    private static final String CLIENT = "client";
    static final List<String> ROLES = List.of(SERVER, CLIENT);
    private static final double MIB = 1 << 20;
    private static final int UCX_COLUMNS = 8;
    private static final int UCX_MEDIAN = 1;
    private static final int UCX_LATENCY = 3;
    private static final int UCX_BANDWIDTH = 5;
    private static final int UCX_RATE = 7;
    private static final Pattern QPERF = Pattern.compile("latency\\s*=\\s*([0-9.]+) (ns|us|ms)");

    private final Setting setting;
    private @Nullable String absenceOfJucx;

    Peers(Setting setting) {
        this.setting = setting;
    }

    /// UCX: `ucx_perftest`.
    ///
    /// @param transports of `UCX_TLS`
    Contestant ucx(String name, String transports, String test, Unit unit, long bytes) {
        return new Tool(
                setting,
                new Description(
                        name,
                        "ucx_perftest " + test
                                + (unit == Unit.SHORT_ONE_WAY
                                        ? ", median of the last 2,048 round trips"
                                        : ", overall mean")
                                + "; it reads the time-stamp counter at every message",
                        "ucx_perftest",
                        "Debian package ucx-utils",
                        unit,
                        bytes,
                        true,
                        (port, count) -> new Pair(
                                setting.placedServer(List.of("ucx_perftest", "-p", "" + port)),
                                setting.placedClient(List.of(
                                        "ucx_perftest",
                                        "-p",
                                        "" + port,
                                        HOST,
                                        "-t",
                                        test,
                                        "-s",
                                        "" + bytes,
                                        "-n",
                                        "" + count,
                                        "-w",
                                        "" + Math.max(1, count / 10),
                                        "-f")),
                                Map.of("UCX_TLS", transports),
                                port,
                                true),
                        output -> ucxFigure(output, unit)));
    }

    /// The last line with numbers only: iterations, latency (median, average, overall), MiB/s and messages/s
    /// (average, overall).
    static double ucxFigure(String output, Unit unit) {
        List<String[]> rows = output.lines()
                .map(line -> line.strip().split("\\s+", -1))
                .filter(cells -> cells.length == UCX_COLUMNS && isNumber(cells[0]))
                .toList();
        if (rows.isEmpty()) {
            return 0;
        }
        String[] last = rows.getLast();
        return switch (unit) {
            case SHORT_ONE_WAY -> Double.parseDouble(last[UCX_MEDIAN]);
            case ONE_WAY, ROUND_TRIP, START -> Double.parseDouble(last[UCX_LATENCY]);
            case BANDWIDTH -> Double.parseDouble(last[UCX_BANDWIDTH]) * MIB * 8 / 1e9;
            case RATE -> Double.parseDouble(last[UCX_RATE]) / 1e6;
            default -> throw new IllegalArgumentException("ucx_perftest does not report " + unit.text());
        };
    }

    private static boolean isNumber(String cell) {
        return cell.matches("[0-9.]+");
    }

    /// libfabric: `fi_pingpong`.
    Contestant libfabric(String name, String provider, Unit unit, long bytes) {
        return new Tool(
                setting,
                new Description(
                        name,
                        "fi_pingpong, mean of the run, which is all that it prints; no clock reading per message",
                        "fi_pingpong",
                        "Debian package libfabric-bin",
                        unit,
                        bytes,
                        true,
                        (port, count) -> {
                            // Both ends need the same options.
                            List<String> options =
                                    List.of("-p", provider, "-e", "rdm", "-S", "" + bytes, "-I", "" + count);
                            List<String> server = words("fi_pingpong", options, "-B", "" + port);
                            List<String> client = words("fi_pingpong", options, "-P", "" + port, HOST);
                            return new Pair(
                                    setting.placedServer(server), setting.placedClient(client), Map.of(), port, true);
                        },
                        Peers::libfabricFigure));
    }

    private static List<String> words(String program, List<String> options, String... more) {
        List<String> words = new ArrayList<>(List.of(program));
        words.addAll(options);
        words.addAll(List.of(more));
        return words;
    }

    /// The column `usec/xfer` of the last line.
    static double libfabricFigure(String output) {
        List<String> lines = output.lines().filter(line -> !line.isBlank()).toList();
        for (int i = 1; i < lines.size(); i++) {
            List<String> titles = List.of(lines.get(i - 1).strip().split("\\s+", -1));
            String[] cells = lines.get(i).strip().split("\\s+", -1);
            int at = titles.indexOf("usec/xfer");
            if (at >= 0 && at < cells.length) {
                return Double.parseDouble(cells[at]);
            }
        }
        return 0;
    }

    Contestant iperf3(Unit unit, long bytes) {
        long seconds = (long) Math.ceil(setting.seconds());
        return new Tool(
                setting,
                new Description(
                        "iperf3",
                        unit == Unit.CPU
                                ? "CPU time of both programs, as they report it, for the received bytes"
                                : "kernel sockets, received bytes of the time, first second left out",
                        "iperf3",
                        "Debian package iperf3",
                        unit,
                        bytes,
                        false,
                        (port, _) -> new Pair(
                                setting.placedServer(List.of("iperf3", "-s", "-1", "-p", "" + port)),
                                setting.placedClient(List.of(
                                        "iperf3",
                                        "-c",
                                        HOST,
                                        "-p",
                                        "" + port,
                                        "-l",
                                        "" + bytes,
                                        "-t",
                                        "" + seconds,
                                        "-O",
                                        "1",
                                        "-J")),
                                Map.of(),
                                port,
                                true),
                        output -> iperfFigure(output, unit)));
    }

    static double iperfFigure(String output, Unit unit) {
        try {
            Map<?, ?> end = (Map<?, ?>) JSON.std.mapFrom(output).getOrDefault("end", Map.of());
            double gigabits = number(end, "sum_received", "bits_per_second") / 1e9;
            if (unit == Unit.BANDWIDTH) {
                return gigabits;
            }
            double percent = number(end, "cpu_utilization_percent", "host_total")
                    + number(end, "cpu_utilization_percent", "remote_total");
            return gigabits == 0 ? 0 : percent * 1e4 / (gigabits / 8);
        } catch (IOException _) {
            return 0;
        }
    }

    /// A number of a JSON object in another; 0 if it is missing.
    private static double number(Map<?, ?> from, String object, String member) {
        return from.get(object) instanceof Map<?, ?> inner && inner.get(member) instanceof Number found
                ? found.doubleValue()
                : 0;
    }

    Contestant qperf(long bytes) {
        long seconds = (long) Math.ceil(setting.seconds());
        return new Tool(
                setting,
                new Description(
                        "qperf tcp_lat",
                        "blocking sockets in C, mean of the run, twice its one-way figure",
                        "qperf",
                        "Debian package qperf",
                        Unit.ROUND_TRIP,
                        bytes,
                        false,
                        (port, _) -> new Pair(
                                setting.placedServer(List.of("qperf", "-lp", "" + port)),
                                setting.placedClient(List.of(
                                        "qperf",
                                        "-lp",
                                        "" + port,
                                        "-t",
                                        "" + seconds,
                                        "-m",
                                        "" + bytes,
                                        HOST,
                                        "tcp_lat")),
                                Map.of(),
                                port,
                                false),
                        Peers::qperfFigure));
    }

    static double qperfFigure(String output) {
        Matcher found = QPERF.matcher(output);
        if (!found.find()) {
            return 0;
        }
        double value = Double.parseDouble(found.group(1));
        return 2
                * switch (found.group(2)) {
                    case "ns" -> value / 1000;
                    case "ms" -> value * 1000;
                    default -> value;
                };
    }

    /// perftest on a device of the lab.
    ///
    /// @param gidIndex `-x N`, or `-R` for a device with only a connection manager
    /// @param column of the figure in the line that begins with the size
    Contestant perftest(
            String program, String device, String address, List<String> gidIndex, Unit unit, long bytes, int column) {
        return new Tool(
                setting,
                new Description(
                        program,
                        unit == Unit.ONE_WAY
                                ? "perftest, average; it reads the cycle counter at every message"
                                : "perftest, average from the first post to the last completion",
                        program,
                        "Debian package perftest",
                        unit,
                        bytes,
                        true,
                        (port, count) -> {
                            List<String> words = new ArrayList<>(List.of(
                                    program,
                                    "-d",
                                    device,
                                    "-p",
                                    "" + port,
                                    "-s",
                                    "" + bytes,
                                    "-n",
                                    "" + count,
                                    "--report_gbits"));
                            words.addAll(gidIndex);
                            List<String> client = new ArrayList<>(words);
                            client.add(address);
                            return new Pair(
                                    setting.placedServer(words), setting.placedClient(client), Map.of(), port, true);
                        },
                        output -> perftestFigure(output, bytes, column)));
    }

    static double perftestFigure(String output, long bytes, int column) {
        return output.lines()
                .map(line -> line.strip().split("\\s+", -1))
                .filter(cells -> cells.length > column && cells[0].equals("" + bytes))
                .mapToDouble(cells -> Double.parseDouble(cells[column]))
                .findFirst()
                .orElse(0);
    }

    /// What a cache line takes between the two ends at this moment, which is the floor of all others.
    Floor floor() {
        List<String> server = new ArrayList<>(javaCommand());
        server.add(CacheLine.class.getName());
        List<String> client = new ArrayList<>(server);
        client.addAll(setting.placedServer(server));
        return new Floor(setting.placedClient(client));
    }

    /// A peer of the package `peer`, which runs on the same Java as this process.
    Contestant java(String name, String contains, String peer, Unit unit, long bytes) {
        return java(name, contains, peer, unit, bytes, Map.of());
    }

    private Contestant java(
            String name, String contains, String peer, Unit unit, long bytes, Map<String, String> environment) {
        boolean pipe = peer.startsWith("pipe");
        return new Tool(
                setting,
                new Description(
                        name,
                        contains,
                        javaProgram(),
                        "a JDK",
                        unit,
                        bytes,
                        false,
                        (port, _) -> new Pair(
                                pipe ? List.of() : setting.placedServer(end(peer, SERVER, port, unit, bytes)),
                                client(peer, port, unit, bytes, pipe),
                                environment,
                                peer.startsWith("aeron") ? 0 : port,
                                true),
                        output -> javaFigure(output, unit, bytes)));
    }

    /// A peer of the package `peer` that measures the start of its JVM.
    ///
    /// @param cache for both ends; null without one
    Contestant newJvm(String name, String contains, String peer, long bytes, @Nullable AotCache cache) {
        Contestant contestant = new Tool(
                setting,
                new Description(
                        name,
                        contains,
                        javaProgram(),
                        "a JDK",
                        Unit.START,
                        bytes,
                        false,
                        (port, _) -> newJvms(
                                peer,
                                port,
                                bytes,
                                role -> cache == null ? List.of() : List.of("-XX:AOTCache=" + cache.file(role))),
                        output -> javaFigure(output, Unit.START, bytes)));
        return cache == null ? contestant : new Cached(contestant, cache);
    }

    /// The AOT caches of both ends of this peer, which measures the first requests of its JVM.
    AotCache cache(String peer, long bytes) {
        Path jar = Path.of(setting.jars().substring(setting.jars().lastIndexOf(':') + 1));
        return new AotCache(
                jar.toAbsolutePath().resolveSibling(""),
                peer,
                (port, cache) -> newJvms(peer, port, bytes, role -> List.of("-XX:AOTCacheOutput=" + cache.file(role))));
    }

    private Pair newJvms(String peer, int port, long bytes, Function<String, List<String>> options) {
        Function<String, List<String>> end = role -> {
            List<String> words = new ArrayList<>(List.of(javaProgram(), "-XX:+UseSerialGC", "-XX:-UsePerfData"));
            words.addAll(options.apply(role));
            words.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", setting.jars()));
            words.addAll(work(peer, role, port, Unit.START, bytes));
            return words;
        };
        return new Pair(
                setting.placedServer(end.apply(SERVER)), setting.placedClient(end.apply(CLIENT)), Map.of(), port, true);
    }

    /// jucx, the Java binding of UCX.
    ///
    /// @param transports of `UCX_TLS`
    Contestant jucx(String name, String contains, String transports, String peer, Unit unit, long bytes) {
        return new Probed(java(name, contains, peer, unit, bytes, Map.of("UCX_TLS", transports)), this::absenceOfJucx);
    }

    private String absenceOfJucx() {
        if (absenceOfJucx == null) {
            List<String> probe = new ArrayList<>(javaCommand());
            probe.add(JucxProbe.class.getName());
            absenceOfJucx = jucxAbsence(Programs.output(probe));
        }
        return absenceOfJucx;
    }

    static String jucxAbsence(String output) {
        List<String> verdicts = output.lines()
                .filter(line -> line.startsWith(JucxProbe.VERDICT))
                .toList();
        if (verdicts.contains(JucxProbe.VERDICT + JucxProbe.WORKS)) {
            return "";
        }
        return (verdicts.isEmpty() ? "jucx ended its JVM" : verdicts.getFirst())
                + " (it needs UCX: Debian package libucx0, on amd64)";
    }

    private List<String> client(String peer, int port, Unit unit, long bytes, boolean pipe) {
        List<String> words = new ArrayList<>(end(peer, CLIENT, port, unit, bytes));
        if (pipe) {
            words.add(String.join(" ", setting.placedServer(end(peer, SERVER, port, unit, bytes))));
        }
        return setting.placedClient(words);
    }

    static double javaFigure(String output, Unit unit, long bytes) {
        double figure = output.lines()
                .filter(line -> line.startsWith(PeerMain.FIGURE))
                .mapToDouble(line -> Double.parseDouble(line.substring(PeerMain.FIGURE.length())))
                .findFirst()
                .orElse(0);
        return unit.smallerIsBetter() ? figure : unit.ofRate(figure, bytes);
    }

    private List<String> end(String peer, String role, int port, Unit unit, long bytes) {
        List<String> words = new ArrayList<>(javaCommand());
        words.addAll(work(peer, role, port, unit, bytes));
        return words;
    }

    private List<String> work(String peer, String role, int port, Unit unit, long bytes) {
        return List.of(
                PeerMain.class.getName(),
                peer,
                role,
                "" + port,
                "" + bytes,
                "" + setting.warmUpSeconds(),
                "" + setting.seconds(),
                unit == Unit.SHORT_ONE_WAY ? "median" : "mean");
    }

    private static List<String> javaCommand() {
        return List.of(
                javaProgram(),
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                // Aeron and Netty
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                // all of them
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"));
    }

    private static String javaProgram() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }
}
