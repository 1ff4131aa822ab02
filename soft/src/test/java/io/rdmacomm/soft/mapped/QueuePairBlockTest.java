package io.rdmacomm.soft.mapped;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The counter of operations in flight, which any process of the user can overwrite in the shared memory.
class QueuePairBlockTest {
    private static final int CALLS_UNTIL_COMPILED = 100_000;
    private static final int NUMBER = 7;
    private static final long COUNTER = ControlLayout.queuePair(NUMBER) + ControlLayout.QP_EXECUTING;

    private ShmDirectory directory;
    private ControlFile file;
    private MemorySegment memory;
    private QueuePairBlock block;

    @BeforeEach
    void create() throws IOException {
        directory = ShmDirectory.claim();
        file = ControlFile.create(directory, 1, 2);
        memory = file.memory();
        block = new QueuePairBlock(file, NUMBER, 1, 0, 0);
    }

    @AfterEach
    void close() throws IOException {
        file.close();
        directory.close();
    }

    private void overwrite(long value) {
        memory.set(ValueLayout.JAVA_LONG, COUNTER, value);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 2, 3, -1, Long.MIN_VALUE})
    void theOwnerWaitsForItsOwnOperationWhateverTheSharedCounterSays(long value) throws Exception {
        block.beginExecuting();
        overwrite(value);
        Thread waiter = Thread.ofPlatform().daemon().start(block::awaitIdle);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        // It spins, then sleeps again and again, until the operation has ended.
        while (waiter.getState() != Thread.State.TIMED_WAITING) {
            assertThat(waiter.isAlive()).as("it waits").isTrue();
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
        block.endExecuting();
        assertThat(waiter.join(Duration.ofSeconds(20))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, -1, Long.MIN_VALUE})
    void peersSeeWhetherAnOperationIsInFlightWhateverTheCounterSaidBefore(long value) {
        long at = ControlLayout.queuePair(NUMBER);
        overwrite(value);
        block.beginExecuting();
        assertThat(QueuePairBlock.executing(memory, at)).isNotZero();
        overwrite(value);
        block.endExecuting();
        assertThat(QueuePairBlock.executing(memory, at)).isZero();
    }

    /// Somebody truncates the file. Java reports that "at the time of the access or at some later time"
    /// ([java.nio.MappedByteBuffer]), and compiled code would do so after the end of the `try` block.
    @Test
    void whoeverReadsACounterThatIsGoneLearnsItAtOnce(@TempDir Path folder) throws IOException {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(folder.resolve("control"), Set.of(CREATE_NEW, READ, WRITE))) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 16, arena);
            for (int i = 0; i < CALLS_UNTIL_COMPILED; i++) {
                assertThat(isReadable(mapped)).isTrue();
            }
            channel.truncate(0);
            assertThat(isReadable(mapped)).isFalse();
        }
    }

    private static boolean isReadable(MemorySegment mapped) {
        try {
            return QueuePairBlock.executing(mapped, 0) == 0;
        } catch (InternalError e) {
            return false;
        }
    }
}
