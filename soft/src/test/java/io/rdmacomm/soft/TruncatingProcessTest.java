package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Somebody truncates the files of a peer in shared memory: each access to them is a SIGBUS from then on, which Java
/// reports as an [InternalError]. That costs the queue pairs that are connected to the peer, and nothing else.
class TruncatingProcessTest {
    private static final int BYTES = 4096;
    private static final int RECEIVES = 8;
    private static final int WARM = 30_000;
    private static final Set<AccessFlag> RIGHTS = EnumSet.of(
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC,
            AccessFlag.DIRECT_VIEW);

    enum Operation {
        WRITE,
        READ,
        SEND,
        ADD
    }

    private final Arena arena = Arena.ofShared();
    private final Context here = open();
    private final ProtectionDomain domain = here.allocateProtectionDomain();
    private final CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
    private final QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
    private final MemoryRegion region = domain.allocate(BYTES, AccessFlag.allRemote());
    private final Completions done = Completions.create(arena, 4);
    private final SendBatch batch = SendBatch.create(arena, 1, 1);
    private Process process;
    private RemoteMemory remote;
    private Path folder;

    private static Context open() {
        return Soft.open("soft0=127.0.0.1");
    }

    @BeforeEach
    void connect() throws IOException {
        process = OtherJvm.running(Program.class, "-XX:+UseSerialGC", "-Xmx64m").start();
        new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8).println(InfoText.print(pair.info()));
        BufferedReader answers = process.inputReader();
        QueuePairInfo info = InfoText.parse(answers.readLine());
        long[] memory = InfoText.numbers(answers.readLine());
        remote = new RemoteMemory(memory[0], BYTES, (int) memory[1]);
        folder = ShmDirectory.folder(info.lid());
        pair.connect(info);
    }

    @AfterEach
    void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
        here.close();
        arena.close();
    }

    private void post(Operation operation) {
        batch.clear();
        switch (operation) {
            case WRITE -> batch.write(1, remote).with(region, 0, BYTES);
            case READ -> batch.read(1, remote).with(region, 0, BYTES);
            case SEND -> batch.send(1).with(region, 0, BYTES);
            case ADD -> batch.fetchAndAdd(1, remote, 1).with(region, 0, Long.BYTES);
        }
        assertThat(pair.post(batch.signaled())).isEqualTo(1);
    }

    private WorkStatus next() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (queue.poll(done, 1) == 0) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
        return done.status(0);
    }

    private void truncate(String name) throws IOException {
        try (FileChannel file = FileChannel.open(folder.resolve(name), StandardOpenOption.WRITE)) {
            file.truncate(0);
        }
    }

    private String regionFile() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("region-"))
                    .findAny()
                    .orElseThrow();
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({
        "WRITE, false, false", "READ, false, false", "SEND, false, false", "ADD, false, false",
        "WRITE, true, false", "READ, true, false", "SEND, true, false", "ADD, true, false",
        "WRITE, false, true", "READ, false, true", "SEND, false, true", "ADD, false, true",
        "WRITE, true, true", "READ, true, true", "SEND, true, true", "ADD, true, true"
    })
    void costsItsQueuePairOnly(Operation operation, boolean control, boolean compiled) throws IOException {
        for (int i = 0; i < (compiled && operation != Operation.SEND ? WARM : 1); i++) {
            post(operation);
            assertThat(next()).isEqualTo(WorkStatus.SUCCESS);
        }

        truncate(control ? ControlFile.NAME : regionFile());
        post(operation);

        assertThat(next()).isNotEqualTo(WorkStatus.SUCCESS);
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        post(operation);
        assertThat(next()).isEqualTo(WorkStatus.FLUSHED);
        MemoryRegion other = domain.allocate(BYTES, AccessFlag.allRemote());
        other.close();
        pair.close();
        worksOn();
    }

    /// The engine is the one that meets the fault, when it tries the message again for which there was no receive.
    @Test
    void costsARequestThatWaits() throws IOException {
        for (int i = 0; i < RECEIVES; i++) {
            post(Operation.SEND);
            assertThat(next()).isEqualTo(WorkStatus.SUCCESS);
        }
        post(Operation.SEND);
        truncate(ControlFile.NAME);
        assertThat(next()).isNotEqualTo(WorkStatus.SUCCESS);
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        pair.close();
        worksOn();
    }

    /// Each way of compiled access to a view of the memory ends with an exception. Not `mismatch` and checksums, for
    /// which the JDK has code that it does not guard.
    @Test
    void costsAViewExceptions() throws IOException {
        MemorySegment view = pair.directView(remote.address(), BYTES, remote.key());
        MemorySegment local = arena.allocate(BYTES, 8);
        for (Access access : Access.values()) {
            for (int i = 0; i < WARM; i++) {
                access.with(view, local);
            }
        }
        truncate(regionFile());
        for (Access access : Access.values()) {
            assertThatThrownBy(() -> {
                        access.with(view, local);
                        SharedWords.throwFault();
                    })
                    .as("%s", access)
                    .isInstanceOf(InternalError.class);
        }
        assertThat(pair.directView(remote.address(), BYTES, remote.key()))
                .as("a view of a file that is too short")
                .isNull();
        pair.close();
        for (Access access : Access.values()) {
            assertThatThrownBy(() -> access.with(view, local))
                    .as("%s", access)
                    .isInstanceOf(IllegalStateException.class);
        }
        worksOn();
    }

    enum Access {
        GET {
            @Override
            void with(MemorySegment view, MemorySegment local) {
                local.set(JAVA_LONG, 0, view.get(JAVA_LONG, 0));
            }
        },
        SET {
            @Override
            void with(MemorySegment view, MemorySegment local) {
                view.set(JAVA_LONG, 0, 1);
            }
        },
        ACQUIRE_AND_RELEASE {
            @Override
            void with(MemorySegment view, MemorySegment local) {
                LONG.setRelease(view, 0L, (long) LONG.getAcquire(view, 8L));
            }
        },
        COMPARE_AND_SET {
            @Override
            void with(MemorySegment view, MemorySegment local) {
                local.set(JAVA_BYTE, 0, (byte) (LONG.compareAndSet(view, 0L, 1L, 2L) ? 1 : 0));
            }
        },
        ADD {
            @Override
            void with(MemorySegment view, MemorySegment local) {
                local.set(JAVA_LONG, 0, (long) LONG.getAndAdd(view, 0L, 1L));
            }
        },
        COPY {
            @Override
            void with(MemorySegment view, MemorySegment local) {
                local.copyFrom(view);
            }
        },
        FILL {
            @Override
            void with(MemorySegment view, MemorySegment local) {
                view.fill((byte) 1);
            }
        };

        private static final VarHandle LONG = JAVA_LONG.varHandle();

        abstract void with(MemorySegment view, MemorySegment local);
    }

    /// With a queue pair of the same context.
    private void worksOn() {
        QueuePair one = domain.createQueuePair(QueuePairOptions.reliable(queue));
        QueuePair another = domain.createQueuePair(QueuePairOptions.reliable(queue));
        one.connect(another.info());
        another.connect(one.info());
        one.post(batch.clear().write(2, region.remote()).with(region, 0, 8).signaled());
        assertThat(next()).isEqualTo(WorkStatus.SUCCESS);
    }

    /// The peer: it does nothing but be there.
    static final class Program {
        public static void main(String[] arguments) throws IOException {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            try (Arena arena = Arena.ofShared();
                    Context context = open()) {
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
                QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
                MemoryRegion region = domain.allocate(BYTES, RIGHTS);
                pair.connect(InfoText.parse(in.readLine()));
                for (int i = 0; i < RECEIVES; i++) {
                    pair.post(ReceiveBatch.create(arena, 1, 1).receive(i).with(region, 0, BYTES));
                }
                System.out.println(InfoText.print(pair.info()));
                System.out.println(region.address() + " " + region.remoteKey());
                while (in.readLine() != null) {
                    Thread.onSpinWait();
                }
            }
        }
    }
}
