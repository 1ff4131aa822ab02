package io.rdmacomm.compare;

import io.rdmacomm.compare.peer.PeerMain;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a cache line takes between the processors of the two ends at a moment. Its programs run until it is closed, and
/// are warm and asleep between the measurements: the start of a process often changes the state of a virtual machine.
final class Floor implements Contestant, AutoCloseable {
    private final List<String> command;
    private @Nullable Process program;

    /// @param command of a program that prints a figure for each line of its input
    Floor(List<String> command) {
        this.command = command;
    }

    @Override
    public String name() {
        return "cache line";
    }

    @Override
    public String contains() {
        return "";
    }

    @Override
    public String absence() {
        return "";
    }

    @Override
    public double measure() throws IOException {
        if (program == null) {
            program = new ProcessBuilder(command).redirectErrorStream(true).start();
        }
        Process running = program;
        try {
            running.outputWriter(StandardCharsets.UTF_8).append('\n').flush();
        } catch (IOException _) {
            // It has ended, and its output says why.
        }
        BufferedReader output = running.inputReader(StandardCharsets.UTF_8);
        StringBuilder other = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(PeerMain.FIGURE)) {
                return Peers.javaFigure(line, Unit.SHORT_ONE_WAY, Long.BYTES);
            }
            other.append(line).append(' ');
        }
        throw new MeasurementException("the program that measures a cache line has ended: " + other);
    }

    @Override
    public void close() {
        if (program != null) {
            program.destroy();
        }
    }
}
