package io.rdmacomm.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// A program of another project and its client, unmodified, in two JVMs: with plain sockets, or with `rdmacomm run`.
/// Each run gives all figures.
final class ProgramRun {
    private static final int COLD_SECONDS = 10;
    /// The time after which the program counts as warm even if the compilers are not idle.
    private static final int MOST_WARM_UP_SECONDS = 60;

    private static final String LINE = "figure ";
    private static final String PROOF = ": RDMA (";

    /// A figure of a run.
    enum Figure {
        /// Requests in a second in the first seconds.
        COLD("cold", Unit.REQUESTS),
        /// Requests in a second, once the JIT compilers are idle.
        WARM("warm", Unit.REQUESTS),
        /// Of a warm request.
        CPU("cpu", Unit.CPU_OF_REQUEST),
        COMPILING("compiling", Unit.COMPILING);

        private final String text;
        private final Unit unit;

        Figure(String text, Unit unit) {
            this.text = text;
            this.unit = unit;
        }

        /// Its name in the output of a run.
        String text() {
            return text;
        }

        Unit unit() {
            return unit;
        }
    }

    private final Setting setting;
    private final Path folder;
    private final String program;
    private final String suite;
    private final boolean overRdma;
    /// Figures of runs that nobody has taken yet.
    private final Map<Figure, Deque<Double>> figures = new EnumMap<>(Figure.class);

    /// @param folder with the classes of the programs and the class path of each suite
    /// @param suite whose class path the program has
    ProgramRun(Setting setting, Path folder, String program, String suite, boolean overRdma) {
        this.setting = setting;
        this.folder = folder;
        this.program = program;
        this.suite = suite;
        this.overRdma = overRdma;
    }

    /// A figure that was not taken before. Runs the program if there is none. Blocks.
    private double take(Figure figure) throws IOException, InterruptedException {
        Deque<Double> known = figures.computeIfAbsent(figure, _ -> new ArrayDeque<>());
        if (known.isEmpty()) {
            add(read(Programs.run(new Programs.Pair(List.of(), command(), Map.of(), 0, false)), overRdma));
        }
        Double first = known.poll();
        if (first == null) {
            throw new MeasurementException(program + " did not print its figure '" + figure.text() + "'");
        }
        return first;
    }

    private List<String> command() throws IOException {
        List<String> command = new ArrayList<>();
        if (overRdma) {
            command.addAll(List.of(setting.command(), "run", "--device", "soft0", "--rules", "*", "--"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(Files.readAllLines(folder.resolve("options")));
        String path = Files.readString(folder.resolve(suite + ".classpath")).strip();
        command.addAll(List.of("-cp", folder.resolve("classes") + ":" + path, "Load", program));
        command.addAll(List.of("" + COLD_SECONDS, "" + MOST_WARM_UP_SECONDS, "" + setting.seconds()));
        return command;
    }

    private void add(Map<Figure, Double> found) {
        found.forEach((figure, value) ->
                figures.computeIfAbsent(figure, _ -> new ArrayDeque<>()).add(value));
    }

    /// The figures in the output of a run.
    static Map<Figure, Double> read(String output, boolean overRdma) throws MeasurementException {
        if (overRdma && !output.contains(PROOF)) {
            throw new MeasurementException("no connection went over RDMA: " + output.strip());
        }
        Map<Figure, Double> found = new EnumMap<>(Figure.class);
        for (Figure figure : Figure.values()) {
            String begin = LINE + figure.text() + " ";
            output.lines()
                    .filter(line -> line.startsWith(begin))
                    .forEach(line -> found.put(figure, Double.parseDouble(line.substring(begin.length()))));
        }
        return found;
    }

    /// One figure of this run as a contestant.
    Contestant contestant(Figure figure) {
        return new Contestant() {
            @Override
            public String name() {
                return overRdma ? "RDMA sockets" : "TCP";
            }

            @Override
            public String contains() {
                return overRdma
                        ? "the sockets of both JVMs over RDMA, by rdmacomm run; the software device"
                        : "the same program without rdmacomm";
            }

            @Override
            public String absence() {
                return "";
            }

            @Override
            public double measure() throws IOException, InterruptedException {
                return take(figure);
            }
        };
    }
}
