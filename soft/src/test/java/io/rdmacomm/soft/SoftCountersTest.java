package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The counters of a context: what goes over TCP, what is retried, what is staged.
final class SoftCountersTest {
    private static final int BYTES = 1 << 16;
    private static final int COUNT = 20;

    private final Arena arena = Arena.ofShared();
    private Context here;
    private Context there;

    private void open(String device) {
        Device opened = Soft.device(device);
        here = opened.open();
        there = opened.open();
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
        arena.close();
    }

    private static long deadline() {
        return System.nanoTime() + 60_000_000_000L;
    }

    private static void eventually(Condition condition) {
        long deadline = deadline();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private interface Condition {
        boolean holds();
    }

    @Test
    void writesOverTcpAreCountedAtBothEndsAndKeptAfterTheLinkHasEnded() {
        open("tcp1=127.0.0.1?sharedMemory=false");
        CompletionQueue target = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(1));
        ProtectionDomain domain = here.allocateProtectionDomain();
        WriteStream stream = new WriteStream(arena, domain, there.allocateProtectionDomain(), target, BYTES);

        stream.write(COUNT, deadline());

        long least = (long) COUNT * BYTES;
        assertThat(here.counters(1).get("tcp_bytes_sent")).isGreaterThan(least).isLessThan(2 * least);
        assertThat(here.counters(1).get("tcp_frames_sent")).isGreaterThanOrEqualTo(COUNT);
        // The target has executed the writes, and its counters are written before it reports that.
        assertThat(there.counters(1).get("tcp_bytes_received")).isGreaterThan(least);
        assertThat(there.counters(1).get("tcp_frames_received")).isGreaterThanOrEqualTo(COUNT);
        assertThat(here.counters(1)).containsEntry("tcp_links", 1L).containsEntry("staged_copies", 0L);

        domain.close();

        assertThat(here.counters(1).get("tcp_bytes_sent")).isGreaterThan(least);
        eventually(() -> there.counters(1).get("tcp_links_ended_by_peers") == 1);
        assertThat(there.counters(1).get("tcp_bytes_received")).isGreaterThan(least);
    }

    @Test
    void whatGoesThroughSharedMemoryIsNotTcp() {
        open("soft1=127.0.0.1");
        CompletionQueue target = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(1));
        new WriteStream(arena, here.allocateProtectionDomain(), there.allocateProtectionDomain(), target, BYTES)
                .write(COUNT, deadline());

        assertThat(here.counters(1)).containsEntry("tcp_bytes_sent", 0L).containsEntry("tcp_links", 0L);
    }

    @Test
    void aSendWithoutReceiveAndACopyToPrivateMemoryAreCounted() {
        open("soft1=127.0.0.1");
        ProtectionDomain domain = here.allocateProtectionDomain();
        ProtectionDomain theirs = there.allocateProtectionDomain();
        CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        CompletionQueue target = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        QueuePair peer = theirs.createQueuePair(QueuePairOptions.reliable(target));
        ConnectionOptions options = ConnectionOptions.defaults();
        options = options.withRetries(options.retries().withReceiverNotReady(2, Duration.ofNanos(10_000)));
        pair.connect(peer.info(), options);
        peer.connect(pair.info(), options);
        MemoryRegion from = domain.allocate(64, AccessFlag.allRemote());
        MemoryRegion to = theirs.register(arena.allocate(64, 64), AccessFlag.allRemote());
        Completions completions = Completions.create(arena, 1);

        pair.post(SendBatch.create(arena, 1, 1)
                .write(1, to.remote())
                .with(from, 0, 8)
                .signaled());
        eventually(() -> queue.poll(completions) == 1);
        assertThat(completions.status(0)).isEqualTo(WorkStatus.SUCCESS);
        Map<String, Long> ours = here.counters(1);
        assertThat(ours).containsEntry("staged_copies", 1L).containsEntry("rnr_retries", 0L);
        assertThat(there.counters(1)).containsEntry("staged_copies_for_peers", 1L);

        pair.post(SendBatch.create(arena, 1, 1).send(2).with(from, 0, 8).signaled());
        eventually(() -> queue.poll(completions) == 1);
        assertThat(completions.status(0)).isEqualTo(WorkStatus.RECEIVER_NOT_READY_EXCEEDED);
        assertThat(here.counters(1)).containsEntry("rnr_retries", 2L);
    }

    @Test
    void anotherPortIsRejected() {
        open("soft1=127.0.0.1");
        assertThatThrownBy(() -> here.counters(2))
                .isInstanceOfSatisfying(
                        VerbException.class, wrong -> assertThat(wrong.errno()).isEqualTo(Errno.EINVAL));
    }
}
