package io.rdmacomm.compare;

import io.rdmacomm.compare.ProgramRun.Figure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Programs of other projects, each with plain sockets and over RDMA sockets.
final class ProgramScenarios {
    private static final String NETTY = "netty";
    private static final String SERVERS = "servers";
    private static final String KAFKA = "kafka";
    private static final String SPARK = "spark";

    private static final List<Program> PROGRAMS = List.of(
            new Program("selectors", NETTY, "echo of 100 B, two JDK selectors of 8 connections at each end"),
            new Program("netty-2-16-100", NETTY, "Netty, echo of 100 B, 2 event loops, 16 connections"),
            new Program("netty-4-16-100", NETTY, "Netty, echo of 100 B, 4 event loops, 16 connections"),
            new Program("netty-8-64-100", NETTY, "Netty, echo of 100 B, 8 event loops, 64 connections"),
            new Program("netty-2-16-64k", NETTY, "Netty, echo of 64 KiB, 2 event loops, 16 connections"),
            new Program("stream-64k", NETTY, "Netty, stream in writes of 64 KiB"),
            new Program("stream-1m", NETTY, "Netty, stream in writes of 1 MiB"),
            new Program("undertow", SERVERS, "Undertow and the JDK's HTTP client, POST, 16 at once"),
            new Program("tomcat", SERVERS, "Tomcat and the JDK's HTTP client, POST, 16 at once"),
            new Program("vertx", SERVERS, "Vert.x and the JDK's HTTP client, POST, 16 at once"),
            new Program("hazelcast", SERVERS, "Hazelcast, two members, sets and gets of 1 kB, 4 threads"),
            new Program("kafka-produce", KAFKA, "Kafka, records of 1 KiB to a broker"),
            new Program("kafka-consume", KAFKA, "Kafka, records of 1 KiB from a broker"),
            new Program("spark", SPARK, "Spark, two executors, records of 1 kB grouped by key"));

    private final Setting setting;
    private final Path folder;

    /// @param suite whose class path it has
    private record Program(String name, String suite, String title) {}

    /// @param folder with the classes of the programs and the class path of each suite
    ProgramScenarios(Setting setting, Path folder) {
        this.setting = setting;
        this.folder = folder;
    }

    /// Each program with each of its figures. Both sides of a scenario have run before the next figure is taken, so one
    /// run gives all.
    List<Scenario> all() {
        List<Scenario> all = new ArrayList<>();
        for (Program program : PROGRAMS) {
            ProgramRun ours = run(program, true);
            ProgramRun plain = run(program, false);
            for (Figure figure : Figure.values()) {
                all.add(new Scenario(
                        program.name() + "-" + figure.text(),
                        program.title() + ": " + figure.text(),
                        figure.unit(),
                        ours.contestant(figure),
                        List.of(plain.contestant(figure))));
            }
        }
        return all;
    }

    private ProgramRun run(Program program, boolean overRdma) {
        return new ProgramRun(setting, folder, program.name(), program.suite(), overRdma);
    }
}
