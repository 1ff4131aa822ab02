package io.rdmacomm.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.function.ToDoubleFunction;

/// A peer that consists of a server and a client program.
final class Tool implements Contestant {
    /// Enough to take much longer than the resolution of any clock.
    private static final long FIRST = 1000;

    private static final long FIRST_BYTES = 64L << 20;
    private static final long MIN = 10;

    private final Setting setting;
    private final Description description;
    private long iterations;

    /// The commands of one measurement.
    @FunctionalInterface
    interface Commands {
        /// The commands of both ends.
        ///
        /// @param port that nobody uses
        /// @param iterations the number of operations, for programs that do not take a time
        Programs.Pair of(int port, long iterations);
    }

    /// A program.
    ///
    /// @param name in the results
    /// @param contains what its figures contain
    /// @param program the file that must be on the path
    /// @param home where it comes from, for a reader who lacks it
    /// @param unit of the figures
    /// @param bytes the message size
    /// @param counted whether it takes a number of operations and no time
    /// @param commands starts both ends
    /// @param figure reads the figure from the client's output
    record Description(
            String name,
            String contains,
            String program,
            String home,
            Unit unit,
            long bytes,
            boolean counted,
            Commands commands,
            ToDoubleFunction<String> figure) {}

    Tool(Setting setting, Description description) {
        this.setting = setting;
        this.description = description;
    }

    @Override
    public String name() {
        return description.name();
    }

    @Override
    public String contains() {
        return description.contains();
    }

    @Override
    public String absence() {
        return Programs.exists(description.program())
                ? ""
                : "the program " + description.program() + " is missing (" + description.home() + ")";
    }

    @Override
    public double measure() throws IOException, InterruptedException {
        if (description.counted() && iterations == 0) {
            long first = Math.clamp(FIRST_BYTES / description.bytes(), MIN, FIRST);
            iterations = Math.max(MIN, scaled(first, run(first)));
            // Ten times as many as in a first run of unknown quality say how many are needed.
            long second = Math.max(MIN, iterations / 10);
            iterations = Math.max(MIN, scaled(second, run(second)));
        }
        return run(iterations);
    }

    /// The number that takes the time of a measurement, if `count` gave that figure.
    private long scaled(long count, double figure) {
        double seconds = description.unit().seconds(figure, count, description.bytes());
        return (long) (count * setting.seconds() / Math.max(seconds, 1e-9));
    }

    private double run(long count) throws IOException, InterruptedException {
        String output = Programs.run(description.commands().of(freePort(), count));
        double figure = description.figure().applyAsDouble(output);
        if (!(figure > 0)) {
            throw new MeasurementException(name() + " printed no figure: " + output.strip());
        }
        return figure;
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
