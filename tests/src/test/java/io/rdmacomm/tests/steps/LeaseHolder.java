package io.rdmacomm.tests.steps;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Lease;
import io.rdmacomm.comm.LeaseExpiredException;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Requests;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.JavaCommand;
import io.rdmacomm.tests.fixture.LocalSteps;
import io.rdmacomm.tests.fixture.Signals;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.RdmaException;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// A process with steps that asks a [LeaseOwner] for its value and reads it under a lease.
final class LeaseHolder implements AutoCloseable {
    /// Of its leases.
    static final Duration TERM = Duration.ofMillis(100);
    /// The length of the value.
    static final int BYTES = 40_000;
    /// The length of an answer: the address, the key and the value of each byte; or nothing.
    static final int ANSWER = 13;

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Process process;
    private final BufferedReader outcomes;
    private final PrintWriter orders;

    /// Starts it, and connects it to the owner.
    ///
    /// @param classes with steps
    LeaseHolder(Path classes, String device, int port) throws IOException {
        List<String> options = new ArrayList<>(List.of("-Xmx256m"));
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("rdmacomm."))
                .forEach(name -> options.add("-D" + name + "=" + System.getProperty(name)));
        List<String> command = JavaCommand.of(LeaseHolder.class, options, classes + File.pathSeparator);
        command.addAll(List.of(device, "" + port));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        outcomes = process.inputReader();
        orders = new PrintWriter(process.outputWriter(), true);
    }

    /// Has it read the value once, and send itself a signal after a step of that.
    ///
    /// @param step counted from 1; 0 for none
    void begin(int step, int signal) {
        orders.println(step + " " + signal);
    }

    /// The outcome, and the number of steps that were counted.
    String[] outcome() throws IOException {
        String line = outcomes.readLine();
        return line == null ? new String[] {"dead", "0"} : line.split(" ", 2);
    }

    /// Whether it has ended its turn, so that its outcome can be read.
    boolean isDone() throws IOException {
        return outcomes.ready() || !process.isAlive();
    }

    boolean isStopped() {
        return process.isAlive() && Signals.isStopped(process);
    }

    void thaw() {
        Signals.thaw(process);
    }

    /// Ends it in order, unless it was killed.
    @Override
    public void close() {
        orders.close();
        if (!Deadline.until(TIMEOUT.toMillis(), () -> !process.isAlive())) {
            process.destroyForcibly();
            throw new AssertionError("the holder does not end");
        }
    }

    /// Arguments: device, port. Each line of its input is a step and a signal.
    public static void main(String[] arguments) throws IOException {
        SessionOptions options = SessionOptions.defaults()
                .withDevice(arguments[0])
                .withAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (ClientSession session = ClientSession.connect(options);
                LocalSteps steps = new LocalSteps()) {
            RdmaChannel channel = session.endPoint().channel(0);
            Requests requests = Requests.on(channel);
            RdmaBuffer copy = session.allocate("copy", BYTES);
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                String[] words = order.split(" ", 2);
                int step = Integer.parseInt(words[0]);
                if (step == 0) {
                    steps.record();
                } else {
                    steps.signalAfter(step, Integer.parseInt(words[1]));
                }
                String outcome = read(channel, requests, copy);
                System.out.println(outcome + " " + steps.end().size());
            }
        }
    }

    private static String read(RdmaChannel channel, Requests requests, RdmaBuffer copy) {
        Lease lease = Lease.begin(TERM);
        byte expected;
        try (Message answer = requests.call(MemorySegment.ofArray(new byte[1]), TIMEOUT)) {
            if (answer.length() < ANSWER) {
                return "absent";
            }
            MemorySegment told = answer.segment();
            RemoteBuffer value = RemoteBuffer.of(
                    "value",
                    told.get(JAVA_LONG_UNALIGNED, 0),
                    BYTES,
                    told.get(JAVA_INT_UNALIGNED, 8),
                    Set.of(AccessFlag.REMOTE_READ));
            expected = told.get(JAVA_BYTE, 12);
            channel.blocking(TIMEOUT).read(copy.slice(0, BYTES), value, 0);
            lease.check();
        } catch (LeaseExpiredException _) {
            return "expired";
        } catch (RdmaException e) {
            e.printStackTrace();
            return "failed";
        }
        for (long at = 0; at < BYTES; at++) {
            if (copy.segment().get(JAVA_BYTE, at) != expected) {
                return "wrong";
            }
        }
        return "right";
    }
}
