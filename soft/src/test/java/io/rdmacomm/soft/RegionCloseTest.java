package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Closing regions while peers are stopped in the middle of an operation. Who closes one that such a peer may use waits
/// for it: a second, once, and for all of these peers together. The counters of the peers are made odd by hand.
class RegionCloseTest {
    private static final int PEERS = 3;
    private static final int MANY = 15;
    private static final long WAIT_NANOS = 1_000_000_000L;
    private static final Set<AccessFlag> LOCAL = EnumSet.of(AccessFlag.LOCAL_WRITE);

    private final Arena arena = Arena.ofShared();
    private final Context here = open();
    private final Context there = open();
    private final ProtectionDomain domain = here.allocateProtectionDomain();
    private final List<QueuePair> pairs = new ArrayList<>();
    private final List<QueuePairBlock> stopped = new ArrayList<>();

    private static Context open() {
        return Soft.open("soft0=127.0.0.1");
    }

    @BeforeEach
    void stopPeers() {
        for (int i = 0; i < PEERS; i++) {
            QueuePair pair = pair(here, domain);
            QueuePair peer = pair(there, there.allocateProtectionDomain());
            pair.connect(peer.info());
            peer.connect(pair.info());
            pairs.add(pair);
            stopped.add(Soft.of(peer).resources().block());
        }
        stopped.forEach(QueuePairBlock::beginExecuting);
    }

    private static QueuePair pair(Context context, ProtectionDomain in) {
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        return in.createQueuePair(QueuePairOptions.reliable(queue));
    }

    @AfterEach
    void close() {
        stopped.forEach(QueuePairBlock::endExecuting);
        here.close();
        there.close();
        arena.close();
    }

    private static long nanosToClose(MemoryRegion region) {
        long start = System.nanoTime();
        region.close();
        return System.nanoTime() - start;
    }

    /// @return nanoseconds for [#MANY] of them, which take a multiple of a second if each is waited for
    private static long nanosToCloseMany(ProtectionDomain of, Set<AccessFlag> access) {
        long nanos = 0;
        for (int i = 0; i < MANY; i++) {
            nanos += nanosToClose(of.allocate(64, access));
        }
        return nanos;
    }

    @Test
    void aStoppedPeerIsWaitedForOnce() {
        assertThat(nanosToClose(domain.allocate(64, AccessFlag.allRemote())))
                .as("it may be writing there")
                .isGreaterThanOrEqualTo(WAIT_NANOS);
        assertThat(nanosToCloseMany(domain, AccessFlag.allRemote())).isLessThan(MANY / 2 * WAIT_NANOS);
    }

    @Test
    void anotherOperationIsWaitedForAgain() {
        domain.allocate(64, AccessFlag.allRemote()).close();
        stopped.getFirst().endExecuting();
        stopped.getFirst().beginExecuting();

        assertThat(nanosToClose(domain.allocate(64, AccessFlag.allRemote()))).isGreaterThanOrEqualTo(WAIT_NANOS);
    }

    @Test
    void nobodyWaitsForPeersThatCannotUseTheRegion() {
        assertThat(nanosToCloseMany(here.allocateProtectionDomain(), AccessFlag.allRemote()))
                .as("another protection domain")
                .isLessThan(MANY / 2 * WAIT_NANOS);
        assertThat(nanosToCloseMany(domain, LOCAL))
                .as("no remote rights, and in no receive")
                .isLessThan(MANY / 2 * WAIT_NANOS);
    }

    @Test
    void aFileThatAPeerMayStillWriteToIsReported(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("file");
        Files.write(file, new byte[64]);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemoryRegion written = domain.map(channel, 0, 64, AccessFlag.allRemote());
            assertThatThrownBy(written::close)
                    .isInstanceOfSatisfying(
                            VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT));
            assertThat(written.isOpen()).isFalse();
            assertThat(written.segment().scope().isAlive()).as("mapped").isFalse();

            MemoryRegion read = domain.map(channel, 0, 64, EnumSet.of(AccessFlag.REMOTE_READ));
            read.close();
            assertThat(read.segment().scope().isAlive()).as("mapped").isFalse();
        }
    }

    @Test
    void aRegionThatAReceiveNamesIsWaitedFor() {
        MemoryRegion region = domain.allocate(64, LOCAL);
        pairs.getLast().post(ReceiveBatch.create(arena, 1, 1).receive(1).with(region, 0, 64));

        assertThat(nanosToClose(region)).isGreaterThanOrEqualTo(WAIT_NANOS);
    }
}
