package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The workarounds for siw.
class SiwTest extends ConnectionCase {
    private static final int DEPTH = 8;
    private static final int PAGE = 4096;

    private final Arena arena = Arena.ofShared();
    private MemoryRegion region;
    private QueuePair pair;

    @BeforeEach
    void connect() throws InterruptedException {
        useIwarp();
        region = domain.allocate(2 * PAGE, AccessFlag.allRemote());
        pair = connected();
        fake.log();
    }

    @AfterEach
    void free() {
        arena.close();
    }

    private QueuePair connected() throws InterruptedException {
        QueuePair connected = domain.createQueuePair(
                QueuePairOptions.reliable(queue).withSizes(new QueueSizes(DEPTH, DEPTH, 1, 1, 0)));
        manager.connect(PEER, connected, DEFAULTS, LONG);
        return connected;
    }

    private SendBatch batch() {
        return SendBatch.create(arena, DEPTH, 1);
    }

    private SendBatch write(long id) {
        return batch().write(id, region.address(), region.remoteKey())
                .with(region, 8, 8)
                .signaled();
    }

    /// The ids of all completions, polled three at a time.
    private List<Long> completed() {
        Completions room = Completions.create(arena, 3);
        List<Long> ids = new ArrayList<>();
        int count;
        do {
            count = queue.poll(room);
            for (int i = 0; i < count; i++) {
                assertThat(room.isSuccess(i)).isTrue();
                ids.add(room.workId(i));
            }
        } while (count == 3);
        return ids;
    }

    @Test
    void completionsOfAClosedQueuePairGoWithItAndThoseOfOthersStayInOrder() throws InterruptedException {
        QueuePair other = connected();
        for (int i = 1; i <= 3; i++) {
            pair.post(write(i));
            other.post(write(10 + i));
        }
        other.close();
        pair.post(write(4));
        domain.createQueuePair(QueuePairOptions.reliable(queue)).close();
        pair.post(write(5));

        assertThat(completed())
                .as("and a short poll means that the queue is empty")
                .containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(completed()).isEmpty();
    }

    @Test
    void theNextQueuePairWithTheSameNumberGetsNoCompletionOfTheLast() throws InterruptedException {
        int number = pair.number();
        pair.post(write(1));
        pair.close();
        fake.nextNumber(number);
        QueuePair next = connected();
        assertThat(next.number()).isEqualTo(number);
        next.post(write(2));
        assertThat(completed()).containsExactly(2L);
    }

    @Test
    void aLostDoorbellMeansThatTheConnectionEnds() {
        fake.keep(true);
        fake.refuse(-1, -1);
        assertThat(pair.post(write(1))).as("they are in the queue").isEqualTo(1);
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void workOfAFailedQueuePairGoesToTheDeviceWhichMayKeepIt() {
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        fake.keep(true);
        fake.log();
        assertThat(pair.post(write(1))).isEqualTo(1);
        assertThat(fake.log()).singleElement().asString().startsWith("post_send");
        assertThat(completed()).isEmpty();
        pair.close();
        assertThat(completed()).isEmpty();
    }

    @Test
    void aReadWithoutElementsIsPostedWithAnEmptyOne() {
        SendBatch read = batch().read(1, region.address(), region.remoteKey());
        fake.keep(true);
        assertThat(pair.post(read)).isEqualTo(1);
        assertThat(fake.log()).singleElement().asString().contains("sge=1");
    }

    @Test
    void aShortMessageAcrossAPageIsPostedInTwoElements() {
        long toPage = -region.address() & PAGE - 1;
        SendBatch across = batch().send(1).with(region, toPage == 0 ? PAGE - 8 : toPage - 8, 32);
        fake.keep(true);
        assertThat(pair.post(across)).isEqualTo(1);
        assertThat(fake.log()).singleElement().asString().contains("sge=2");

        SendBatch within = batch().send(2).with(region, toPage == 0 ? 0 : toPage, 32);
        assertThat(pair.post(within)).isEqualTo(1);
        assertThat(fake.log()).singleElement().asString().contains("sge=1");
    }
}
