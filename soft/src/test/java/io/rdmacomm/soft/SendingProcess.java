package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.MappedFile;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// Another process on this host that sends long messages, one after the other, until one fails. Each begins and ends
/// with a number, that of the previous message plus one. It can be stopped, most likely in the middle of a message, and
/// killed.
final class SendingProcess {
    static final int BYTES = 64 << 20;

    private static final String DEVICE = "soft0=127.0.0.1";
    private static final ConnectionOptions IMPATIENT =
            ConnectionOptions.defaults().withTimeout(Duration.ofMillis(50), 2);

    private final Process process;
    private final BufferedReader answers;
    private final PrintWriter commands;
    private final QueuePairInfo info;

    SendingProcess() throws IOException {
        process = OtherJvm.running(Program.class, "-XX:+UseSerialGC", "-Xmx64m").start();
        answers = process.inputReader();
        commands = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
        info = InfoText.parse(answers.readLine());
    }

    static Context openDevice() {
        return Soft.open(DEVICE);
    }

    /// Connects it to `pair`. It begins to send at once.
    void connect(QueuePair pair) {
        pair.connect(info);
        commands.println(InfoText.print(pair.info()));
    }

    /// Stops all its threads, wherever they are.
    void stop() throws Exception {
        signal("STOP");
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (!isStopped()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private boolean isStopped() throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            return threads.allMatch(SendingProcess::isStopped);
        }
    }

    private static boolean isStopped(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            // The state follows the name, which may contain anything (proc_pid_stat(5)).
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
        } catch (IOException e) {
            // The thread has ended since it was listed: look again.
            return false;
        }
    }

    /// Whether it was stopped between the start and the end of a message.
    boolean isInAMessage() throws IOException {
        try (MappedFile control =
                MappedFile.open(ShmDirectory.folder(info.lid()).resolve(ControlFile.NAME))) {
            return QueuePairBlock.executing(control.segment(), ControlLayout.queuePair(info.number())) != 0;
        }
    }

    /// Lets it continue.
    void resume() throws Exception {
        signal("CONT");
    }

    private void signal(String name) throws Exception {
        Process kill = new ProcessBuilder(List.of("kill", "-" + name, Long.toString(process.pid())))
                .inheritIO()
                .start();
        assertThat(kill.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    /// Waits until one of its messages has failed, after which it does nothing any more.
    void awaitFailure() throws IOException {
        assertThat(answers.readLine()).startsWith("failed");
    }

    /// Kills it, and waits until it is gone.
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    static final class Program {
        public static void main(String[] arguments) throws IOException {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            try (Arena arena = Arena.ofShared();
                    Context context = openDevice()) {
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
                QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
                MemoryRegion region = domain.allocate(BYTES, AccessFlag.allRemote());
                System.out.println(InfoText.print(pair.info()));
                pair.connect(InfoText.parse(in.readLine()), IMPATIENT);
                SendBatch batch = SendBatch.create(arena, 1, 1)
                        .send(1)
                        .with(region, 0, BYTES)
                        .signaled();
                Completions done = Completions.create(arena, 1);
                byte number = 0;
                do {
                    number++;
                    region.segment().set(JAVA_BYTE, 0, number);
                    region.segment().set(JAVA_BYTE, BYTES - 1, number);
                    pair.post(batch);
                    while (queue.poll(done) == 0) {
                        Thread.onSpinWait();
                    }
                } while (done.isSuccess(0));
                System.out.println("failed " + done.status(0));
                while (in.readLine() != null) {
                    Thread.onSpinWait();
                }
            }
        }
    }
}
