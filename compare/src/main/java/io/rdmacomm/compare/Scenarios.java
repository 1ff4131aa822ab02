package io.rdmacomm.compare;

import io.rdmacomm.cli.command.ByteSize;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Everything that is compared, in order.
final class Scenarios {
    /// Transports of UCX.
    static final String SHARED_MEMORY = "posix,sysv,cma,self";
    static final String TCP = "tcp,self";
    private static final String NO_READING = "mean of the run, one clock reading in 64 messages";
    private static final String GROUPS = "median of groups of 64 messages, one clock reading for each group";
    private static final String CONFIRMED = "until the receiver has confirmed all messages";
    private static final long SMALL = 8;
    private static final long BLOCK = 64 << 10;
    private static final long MIB = 1 << 20;
    private static final int PERFTEST_AVERAGE = 5;
    private static final int PERFTEST_RATE = 3;

    private final Setting setting;
    private final Peers peers;

    Scenarios(Setting setting) {
        this.setting = setting;
        this.peers = new Peers(setting);
    }

    /// All on this machine.
    List<Scenario> here() {
        List<Scenario> all = new ArrayList<>(sharedMemory());
        all.addAll(tcp());
        all.addAll(newJvm());
        return all;
    }

    private List<Scenario> sharedMemory() {
        List<Scenario> all = new ArrayList<>();
        all.add(scenario(
                "shm-write-8",
                "shared memory: write 8 B",
                Unit.SHORT_ONE_WAY,
                "write_lat",
                SMALL,
                shmUcx("ucp_put_lat"),
                jucx("put-ping", Unit.SHORT_ONE_WAY, SMALL)));
        all.add(scenario(
                "shm-send-8",
                "shared memory: send 8 B",
                Unit.SHORT_ONE_WAY,
                "send_lat",
                SMALL,
                shmUcx("tag_lat"),
                jucx("send-ping", Unit.SHORT_ONE_WAY, SMALL),
                peers.libfabric("libfabric shm", "shm", Unit.SHORT_ONE_WAY, SMALL),
                peers.java("Aeron IPC", GROUPS + "; offer and poll", "aeron-ping", Unit.SHORT_ONE_WAY, SMALL)));
        all.add(scenario(
                "shm-write-rate",
                "shared memory: writes of 8 B",
                Unit.RATE,
                "write_bw",
                SMALL,
                ucx("ucp_put_bw", Unit.RATE, SMALL),
                jucx("put-stream", Unit.RATE, SMALL)));
        all.add(scenario(
                "shm-send-rate",
                "shared memory: sends of 8 B",
                Unit.RATE,
                "send_bw",
                SMALL,
                ucx("tag_bw", Unit.RATE, SMALL),
                jucx("send-stream", Unit.RATE, SMALL),
                aeronStream(Unit.RATE, SMALL)));
        for (long bytes : List.of(BLOCK, MIB, 8 * MIB)) {
            all.add(scenario(
                    "shm-write-" + bytes,
                    "shared memory: write " + ByteSize.format(bytes),
                    Unit.BANDWIDTH,
                    "write_bw",
                    bytes,
                    ucx("ucp_put_bw", Unit.BANDWIDTH, bytes),
                    jucx("put-stream", Unit.BANDWIDTH, bytes)));
        }
        for (long bytes : List.of(BLOCK, MIB)) {
            all.add(scenario(
                    "shm-send-" + bytes,
                    "shared memory: send " + ByteSize.format(bytes),
                    Unit.BANDWIDTH,
                    "send_bw",
                    bytes,
                    ucx("tag_bw", Unit.BANDWIDTH, bytes),
                    jucx("send-stream", Unit.BANDWIDTH, bytes),
                    aeronStream(Unit.BANDWIDTH, bytes),
                    peers.java(
                            "Aeron IPC, small log",
                            CONFIRMED + "; the log is as small as such messages allow, as our receives are",
                            "aeron-stream-small",
                            Unit.BANDWIDTH,
                            bytes)));
        }
        all.add(scenario(
                "shm-request",
                "shared memory: request of 8 B, both ends sleep",
                Unit.ROUND_TRIP,
                "request_lat",
                SMALL,
                peers.java("two pipes", NO_READING + "; blocking calls", "pipe-request", Unit.ROUND_TRIP, SMALL)));
        return all;
    }

    private Contestant shmUcx(String test) {
        return ucx(test, Unit.SHORT_ONE_WAY, SMALL);
    }

    private Contestant ucx(String test, Unit unit, long bytes) {
        return peers.ucx("UCX shm " + test, SHARED_MEMORY, test, unit, bytes);
    }

    private Contestant jucx(String test, Unit unit, long bytes) {
        return jucx("jucx shm", SHARED_MEMORY, test, unit, bytes);
    }

    private Contestant tcpJucx(String test, Unit unit, long bytes) {
        return jucx("jucx tcp", TCP, test, unit, bytes);
    }

    private Contestant jucx(String name, String transports, String test, Unit unit, long bytes) {
        String reading = unit == Unit.SHORT_ONE_WAY ? GROUPS : NO_READING;
        String contains = switch (test) {
            case "send-ping" -> reading + "; with tags";
            case "put-ping" -> reading + "; the other end watches the last byte";
            case "send-stream" -> CONFIRMED + "; with tags";
            default -> "until all messages are flushed";
        };
        return peers.jucx(name, contains, transports, "jucx-" + test, unit, bytes);
    }

    private Contestant aeronStream(Unit unit, long bytes) {
        return peers.java(
                "Aeron IPC",
                CONFIRMED + "; the receiver reads in place and assembles nothing",
                "aeron-stream",
                unit,
                bytes);
    }

    private List<Scenario> tcp() {
        return List.of(
                overTcp(
                        "tcp-send-8",
                        "TCP: send 8 B, both ends poll",
                        Unit.ONE_WAY,
                        "send_lat",
                        SMALL,
                        peers.ucx("UCX tcp tag_lat", TCP, "tag_lat", Unit.ONE_WAY, SMALL),
                        tcpJucx("send-ping", Unit.ONE_WAY, SMALL),
                        peers.libfabric("libfabric tcp", "tcp", Unit.ONE_WAY, SMALL),
                        peers.java("plain SocketChannel", NO_READING, "nio-ping", Unit.ONE_WAY, SMALL),
                        peers.java(
                                "Netty NIO", NO_READING + "; the event loops poll", "netty-ping", Unit.ONE_WAY, SMALL)),
                overTcp(
                        "tcp-send-1m",
                        "TCP: stream of 1 MiB messages",
                        Unit.BANDWIDTH,
                        "send_bw",
                        MIB,
                        peers.iperf3(Unit.BANDWIDTH, MIB),
                        peers.ucx("UCX tcp tag_bw", TCP, "tag_bw", Unit.BANDWIDTH, MIB),
                        tcpJucx("send-stream", Unit.BANDWIDTH, MIB),
                        peers.java("plain SocketChannel", CONFIRMED, "nio-stream", Unit.BANDWIDTH, MIB),
                        peers.java("Netty NIO", CONFIRMED, "netty-stream", Unit.BANDWIDTH, MIB)),
                overTcp(
                        "tcp-cpu-1m",
                        "TCP: CPU time of a stream of 1 MiB messages",
                        Unit.CPU,
                        "send_bw",
                        MIB,
                        peers.iperf3(Unit.CPU, MIB)),
                overTcp(
                        "tcp-write-1m",
                        "TCP: writes of 1 MiB",
                        Unit.BANDWIDTH,
                        "write_bw",
                        MIB,
                        peers.ucx("UCX tcp ucp_put_bw", TCP, "ucp_put_bw", Unit.BANDWIDTH, MIB),
                        tcpJucx("put-stream", Unit.BANDWIDTH, MIB)),
                overTcp(
                        "tcp-request",
                        "TCP: request of 8 B, both ends sleep",
                        Unit.ROUND_TRIP,
                        "request_lat",
                        SMALL,
                        peers.java(
                                "blocking SocketChannel",
                                NO_READING + "; blocking calls",
                                "nio-request",
                                Unit.ROUND_TRIP,
                                SMALL),
                        peers.qperf(SMALL)));
    }

    private List<Scenario> newJvm() {
        String first = "mean, both ends are new JVMs and poll";
        AotCache ours = peers.cache("rdmacomm-first", SMALL);
        AotCache plain = peers.cache("nio-first", SMALL);
        List<Scenario> all = new ArrayList<>();
        all.add(start(peers, "start", "new JVM: first request of 8 B answered", "start", ours, plain));
        // Ends that poll would take the processor from each other, so these sleep.
        setting.onOneProcessor()
                .ifPresent(one -> all.add(start(
                        new Peers(one),
                        "start-one-processor",
                        "new JVM, both ends on one processor: first request of 8 B answered",
                        "start-asleep",
                        ours,
                        plain)));
        all.add(new Scenario(
                "start-first",
                "new JVM: the first 10,000 requests of 8 B",
                Unit.ROUND_TRIP,
                peers.java("rdmacomm session", first, "rdmacomm-first", Unit.ROUND_TRIP, SMALL),
                List.of(peers.java("plain SocketChannel", first, "nio-first", Unit.ROUND_TRIP, SMALL))));
        return all;
    }

    private static Scenario start(
            Peers peers, String id, String title, String measurement, AotCache ours, AotCache plain) {
        String start =
                "from the start of the client's JVM to a server that waits, itself a new JVM; the kernel counts in"
                        + " steps of 10 ms";
        String cached = start + "; each end has an AOT cache of a run with 10,000 requests";
        String rdmacomm = "rdmacomm-" + measurement;
        String nio = "nio-" + measurement;
        return new Scenario(
                id,
                title,
                Unit.START,
                peers.newJvm("rdmacomm session", start, rdmacomm, SMALL, null),
                List.of(
                        peers.newJvm("plain SocketChannel", start, nio, SMALL, null),
                        peers.newJvm("rdmacomm session, AOT cache", cached, rdmacomm, SMALL, ours),
                        peers.newJvm("plain SocketChannel, AOT cache", cached, nio, SMALL, plain)));
    }

    /// On the devices of the lab, against perftest.
    List<Scenario> lab() {
        return List.of(
                onDevice("rxe-write-64", "rxe0", "write_lat", Unit.ONE_WAY, 64, "ib_write_lat"),
                onDevice("rxe-send-64", "rxe0", "send_lat", Unit.ONE_WAY, 64, "ib_send_lat"),
                onDevice("rxe-write-64k", "rxe0", "write_bw", Unit.BANDWIDTH, BLOCK, "ib_write_bw"),
                onDevice("rxe-send-64k", "rxe0", "send_bw", Unit.BANDWIDTH, BLOCK, "ib_send_bw"),
                onDevice("siw-send-64", "siw0", "send_lat", Unit.ONE_WAY, 64, "ib_send_lat"));
    }

    private Scenario onDevice(String id, String device, String test, Unit unit, long bytes, String program) {
        boolean rxe = device.equals("rxe0");
        String address = rxe ? "10.9.0.1" : "10.8.0.1";
        return new Scenario(
                id,
                device + ": " + test + " " + ByteSize.format(bytes),
                unit,
                new Rdmacomm(setting, unit, test, bytes, List.of("--device", device, "--bind", address), Map.of()),
                List.of(peers.perftest(
                        program,
                        device,
                        address,
                        rxe ? List.of("-x", "1") : List.of("-R"),
                        unit,
                        bytes,
                        unit == Unit.ONE_WAY ? PERFTEST_AVERAGE : PERFTEST_RATE)));
    }

    private Scenario scenario(String id, String title, Unit unit, String test, long bytes, Contestant... others) {
        return new Scenario(
                id, title, unit, new Rdmacomm(setting, unit, test, bytes, List.of(), Map.of()), List.of(others));
    }

    private Scenario overTcp(String id, String title, Unit unit, String test, long bytes, Contestant... others) {
        return new Scenario(
                id,
                title,
                unit,
                new Rdmacomm(setting, unit, test, bytes, List.of(), Rdmacomm.OVER_TCP),
                List.of(others));
    }
}
