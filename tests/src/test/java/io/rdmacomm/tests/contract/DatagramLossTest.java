package io.rdmacomm.tests.contract;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.EndDatagrams;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.DatagramOptions;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A million numbered datagrams, and how many of them are lost: the numbers that are missing, and the difference
/// between those sent and those received, which must be equal.
@Tag("slow")
class DatagramLossTest extends ContractCase {
    private static final int KEY = 0x77;
    private static final int BYTES = 256;
    private static final int SLOT = GlobalRoutingHeader.BYTES + BYTES;
    private static final int RECEIVES = 1024;
    private static final int BATCH = 32;
    /// The first of the numbers that end the stream.
    private static final long END = 1L << 40;

    /// Receives until the stream ends.
    private final class Receiver {
        private final CompletionQueue queue =
                here().context().createCompletionQueue(CompletionQueueOptions.ofCapacity(2 * RECEIVES));
        private final QueuePair pair = here().domain()
                .createQueuePair(QueuePairOptions.reliable(queue)
                        .withType(QueuePairType.UNRELIABLE_DATAGRAM)
                        .withSizes(new QueueSizes(1, RECEIVES, 1, 1, 0)));
        private final MemoryRegion memory =
                here().domain().allocate((long) RECEIVES * SLOT, Set.of(AccessFlag.LOCAL_WRITE));
        private final Completions completions = Completions.create(here().arena(), BATCH);
        private final ReceiveBatch receives = ReceiveBatch.create(here().arena(), BATCH, 1);
        private long received;
        private long missing;
        private long next;
        private boolean ended;

        Receiver() {
            pair.initialize(DatagramOptions.ofKey(KEY));
            for (int i = 0; i < RECEIVES; i += BATCH) {
                receives.clear();
                for (int slot = i; slot < i + BATCH; slot++) {
                    post(slot);
                }
                assertThat(pair.post(receives)).isEqualTo(BATCH);
            }
            pair.startDatagrams();
        }

        private void post(long slot) {
            receives.receive(slot).with(memory, slot * SLOT, SLOT);
        }

        void run() {
            Deadline deadline = Deadline.in(EndQueue.TIMEOUT_MILLIS);
            while (!ended) {
                int count = queue.poll(completions);
                if (count == 0) {
                    assertThat(deadline.waiting())
                            .as("after " + received + " datagrams")
                            .isTrue();
                    continue;
                }
                deadline.progress();
                receives.clear();
                for (int i = 0; i < count; i++) {
                    assertThat(completions.isSuccess(i)).isTrue();
                    take(completions.workId(i), completions.byteLength(i));
                    post(completions.workId(i));
                }
                assertThat(pair.post(receives)).isEqualTo(count);
            }
        }

        private void take(long slot, long bytes) {
            long number = memory.segment().get(JAVA_LONG_UNALIGNED, slot * SLOT + GlobalRoutingHeader.BYTES);
            if (bytes != SLOT || number < next) {
                throw new AssertionError("datagram " + number + " of " + bytes + " bytes instead of " + next);
            }
            if (number >= END) {
                ended = true;
            } else if (!ended) {
                missing += number - next;
                next = number + 1;
                received++;
            }
        }
    }

    @Test
    @Timeout(1200)
    void ofAMillionDatagramsTheLostOnesAreCounted() throws Exception {
        long count = Amount.of(1_000_000, 10_000);
        Receiver receiver = new Receiver();
        QueuePairInfo to = receiver.pair.info();
        EndDatagrams sender = closing(there().datagrams(KEY));
        CompletableFuture<Void> receiving = CompletableFuture.runAsync(receiver::run);
        long start = System.nanoTime();

        long sent = sender.stream(to, KEY, 0, count, BYTES);
        double seconds = (System.nanoTime() - start) / 1e9;
        // Until one arrives: what marks the end can be lost as well.
        Deadline.await("the end of the stream", () -> {
            sender.stream(to, KEY, END, 1, BYTES);
            return receiving.isDone();
        });
        receiving.get();

        long lost = sent - receiver.received;
        long missing = receiver.missing + (count - receiver.next);
        System.out.println("%s: %d datagrams of %d bytes sent in %.1f s, %d received, %d lost"
                .formatted(fabric, sent, BYTES, seconds, receiver.received, lost));
        assertThat(sent).isEqualTo(count);
        assertThat(missing).as("the numbers that are missing").isEqualTo(lost);
        assertThat(receiver.received).isPositive();
    }
}
