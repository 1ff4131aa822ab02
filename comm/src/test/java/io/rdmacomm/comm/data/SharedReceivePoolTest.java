package io.rdmacomm.comm.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.SilentDevice;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.CompletionQueues;
import io.rdmacomm.comm.progress.GroupMember;
import io.rdmacomm.comm.statistics.SharedReceiveStatistics;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.counters.ChannelCounters;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A pool of 32 receives for 4 channels, of which each is guaranteed 2, over a device that completes nothing by
/// itself.
final class SharedReceivePoolTest {
    private static final int RECEIVES = 32;
    private static final int LIMIT = 8;
    private static final ChannelSizes SIZES = new ChannelSizes(8, 16, 64, 0);

    private final SilentDevice device = new SilentDevice();
    private final Arena arena = Arena.ofShared();
    private Context context;
    private ProtectionDomain domain;
    private CompletionGroup group;
    private ChannelMemory cells;
    private SharedReceivePool pool;
    private int next;

    /// A channel that keeps its messages until it is told to give them back.
    private final class Channel implements GroupMember, ChannelEvents<String> {
        private final Deque<Integer> kept = new ArrayDeque<>();
        private final List<String> failures = new ArrayList<>();
        private int recalls;
        private final QueuePair queuePair =
                domain.createQueuePair(pool.source(16).of(QueuePairOptions.reliable(group.queue())));
        private final ReceiveShare share = attach();

        private ReceiveShare attach() {
            SendQueue<String> sends = new SendQueue<>(
                    "channel", group, queuePair, 0, SIZES, 2, cells, arena, false, new ChannelCounters(), this);
            return (ReceiveShare) pool.source(16)
                    .attach(new ChannelParts(
                            queuePair, 0, sends, group, this, () -> failures.add("lost"), this::onRecall));
        }

        /// The peer sends a message.
        private void arrive() {
            complete(WorkStatus.SUCCESS);
        }

        private void complete(WorkStatus status) {
            long workId = device.receives.get(next++);
            device.complete(workId, status, CompletionOpcode.RECEIVE, queuePair.number());
            assertThat(group.poll()).isEqualTo(1);
        }

        /// The peer sends as many messages as it may.
        private void arriveAll() {
            while (share.unused() > 0) {
                arrive();
            }
        }

        private void giveBack() {
            pool.repost(kept.remove());
        }

        private void giveBackAll() {
            while (!kept.isEmpty()) {
                giveBack();
            }
        }

        @Override
        public void received(Completions completions, int index, int receive) {
            if (completions.isSuccess(index)) {
                kept.add(receive);
            } else {
                failures.add("receive " + completions.status(index));
            }
        }

        @Override
        public void failed(RdmaException why) {
            failures.add(why.getMessage());
        }

        @Override
        public void completed(Completions completions, int index, long workId) {}

        @Override
        public void onEnd(String handler, long context, WorkStatus status, long result) {}

        @Override
        public void onArrival(int receive, long length, boolean notice, boolean tagged, int tag) {
            kept.add(receive);
        }

        @Override
        public void onWorkFailed(String what, WorkStatus status, int vendorError) {}

        @Override
        public void onFailed(RdmaException why) {}

        @Override
        public void onRecall() {
            recalls++;
        }

        @Override
        public void onAttention() {}
    }

    @BeforeEach
    void open() {
        context = Device.of(device).open();
        domain = context.allocateProtectionDomain();
        group = new CompletionGroup(new CompletionQueues(context), "group", CompletionGroup.SPIN_FOREVER, 100, 8, true);
        MemoryRegion memory = domain.allocate(ReceiveMemory.bytes(RECEIVES, 64), EnumSet.of(AccessFlag.LOCAL_WRITE));
        cells = new ChannelMemory(domain.allocate(SIZES.cellBytes(), AccessFlag.allRemote()), 0);
        pool = new SharedReceivePool(domain, new ReceiveMemory(memory, 0, RECEIVES, 64), RECEIVES, 4, 2);
    }

    @AfterEach
    void close() {
        context.close();
        group.close();
        arena.close();
    }

    private void limitReached() {
        pool.onEvent(new AsyncEvent(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, pool.queue(), 0));
    }

    private void assertAllIsBack() {
        SharedReceiveStatistics now = pool.statistics();
        assertThat(now.kept()).isZero();
        assertThat(now.lent()).isZero();
        assertThat(now.channels()).isZero();
        limitReached();
        assertThat(pool.statistics().posted()).isEqualTo(RECEIVES);
    }

    @Test
    void allReceivesArePostedAtOnceAndTheLimitIsArmed() {
        assertThat(device.receives).hasSize(RECEIVES).doesNotHaveDuplicates();
        assertThat(device.limits).containsExactly(LIMIT);
        assertThat(pool.statistics()).isEqualTo(new SharedReceiveStatistics(0, RECEIVES, 0, 0, 0));
    }

    @Test
    void aMessageGoesToTheChannelWhoseQueuePairTookTheReceive() {
        Channel one = new Channel();
        Channel two = new Channel();
        two.arrive();
        one.arrive();
        two.arrive();

        assertThat(one.kept).hasSize(1);
        assertThat(two.kept).hasSize(2);
        assertThat(pool.statistics()).isEqualTo(new SharedReceiveStatistics(2, RECEIVES - 3, 3, 0, 0));
    }

    @Test
    void receivesArePostedAgainAQuarterAtATime() {
        Channel channel = new Channel();
        for (int i = 0; i < LIMIT - 1; i++) {
            channel.arrive();
            channel.giveBack();
        }
        assertThat(device.receives).hasSize(RECEIVES);

        channel.arrive();
        channel.giveBack();

        assertThat(device.receives).hasSize(RECEIVES + LIMIT);
        assertThat(device.receives.subList(RECEIVES, RECEIVES + LIMIT))
                .containsExactlyInAnyOrderElementsOf(device.receives.subList(0, LIMIT));
    }

    @Test
    void atTheLimitWhatIsFreeIsPostedAndThenEveryReceiveAtOnce() {
        Channel channel = new Channel();
        for (int i = 0; i < 3; i++) {
            channel.arrive();
            channel.giveBack();
        }
        limitReached();
        assertThat(device.receives).hasSize(RECEIVES + 3);
        assertThat(pool.statistics().refills()).isEqualTo(1);

        channel.arrive();
        channel.giveBack();
        assertThat(device.receives).hasSize(RECEIVES + 4);

        pool.maintain();
        assertThat(device.limits).containsExactly(LIMIT, LIMIT);
        channel.arrive();
        channel.giveBack();
        assertThat(device.receives).as("enough are posted again").hasSize(RECEIVES + 4);
    }

    @Test
    void theLimitIsNotArmedAsLongAsFewReceivesArePosted() {
        List<Channel> channels = List.of(new Channel(), new Channel(), new Channel(), new Channel());
        for (int round = 0; round < 10; round++) {
            channels.forEach(Channel::arriveAll);
            channels.forEach(Channel::giveBackAll);
        }
        channels.forEach(Channel::arriveAll);
        assertThat(pool.statistics().posted()).isLessThan(LIMIT);
        limitReached();
        pool.maintain();
        assertThat(device.limits).containsExactly(LIMIT);

        channels.forEach(Channel::giveBackAll);
        pool.maintain();
        assertThat(device.limits).containsExactly(LIMIT, LIMIT);
    }

    @Test
    void eventsOfOthersAreIgnored() {
        Channel channel = new Channel();
        channel.arrive();
        channel.giveBack();
        pool.onEvent(new AsyncEvent(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, channel.queuePair, 0));
        pool.onEvent(new AsyncEvent(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED, null, 0));
        pool.onEvent(new AsyncEvent(AsyncEventType.PORT_ACTIVE, null, 1));

        assertThat(device.receives).hasSize(RECEIVES);
        assertThat(channel.share.isFlushed()).isFalse();
    }

    /// A peer that starts slowly must not have to prove with its few guaranteed receives that it is fast.
    @Test
    void aChannelBorrowsAtItsFirstMessageWhileThereArePlenty() {
        Channel slow = new Channel();
        pool.maintain();
        slow.arrive();
        slow.giveBack();

        assertThat(slow.share.unused()).isEqualTo(4);
        assertThat(pool.statistics().lent()).isEqualTo(2);
        slow.arrive();
        slow.giveBack();
        assertThat(slow.share.unused())
                .as("8 would be no longer little beside the others")
                .isEqualTo(4);
    }

    @Test
    void whatCalmChannelsHaveBorrowedIsTakenBackWhenReceivesAreScarce() {
        Channel calm = new Channel();
        for (int i = 0; i < 5; i++) {
            calm.arrive();
            calm.giveBack();
        }
        int before = calm.share.unused();
        assertThat(before).isGreaterThan(2);
        List<Channel> busy = List.of(new Channel(), new Channel(), new Channel());
        for (int tick = 0; tick < 40; tick++) {
            busy.forEach(Channel::arriveAll);
            busy.forEach(Channel::giveBackAll);
            calm.arrive();
            calm.giveBack();
            pool.maintain();
        }

        assertThat(calm.share.unused()).isEqualTo(2);
        assertThat(calm.failures).isEmpty();
        assertThat(busy)
                .allSatisfy(channel -> assertThat(channel.share.unused()).isGreaterThanOrEqualTo(7));
    }

    @Test
    void aChannelThatNeedsMoreBorrowsAndOneThatDoesNotGetsFewWithoutNeed() {
        Channel busy = new Channel();
        Channel calm = new Channel();
        for (int round = 0; round < 5; round++) {
            busy.arriveAll();
            busy.giveBackAll();
        }
        assertThat(busy.share.unused()).as("half of 24, and its own 2").isEqualTo(14);
        assertThat(pool.statistics().lent()).isEqualTo(12);
        for (int round = 0; round < 5; round++) {
            busy.arriveAll();
            busy.giveBackAll();
            calm.arrive();
            calm.giveBack();
        }

        assertThat(calm.share.unused()).isLessThanOrEqualTo(4);
        assertThat(busy.share.unused()).isGreaterThanOrEqualTo(12);
    }

    @Test
    void aChannelThatIsFastBorrowsAlthoughItsPeerNeverRunsOut() {
        Channel fast = new Channel();
        for (int i = 0; i < 200; i++) {
            fast.arrive();
            fast.giveBack();
        }
        assertThat(fast.share.unused()).isEqualTo(14);
        for (int i = 0; i < 40; i++) {
            fast.arrive();
            fast.giveBack();
            pool.maintain();
        }
        assertThat(fast.share.unused())
                .as("slow again, where receives are scarce")
                .isLessThan(14);
    }

    @Test
    void channelsThatKeepAllTheirMessagesLeaveTheOthersTheirGuaranteedReceives() {
        List<Channel> greedy = List.of(new Channel(), new Channel(), new Channel());
        for (int round = 0; round < 10; round++) {
            greedy.forEach(Channel::arriveAll);
            greedy.forEach(Channel::giveBackAll);
        }
        greedy.forEach(Channel::arriveAll);
        Channel modest = new Channel();

        for (int i = 0; i < 1000; i++) {
            modest.arrive();
            modest.arrive();
            modest.giveBack();
            modest.giveBack();
            assertThat(modest.share.unused()).isGreaterThanOrEqualTo(2);
            SharedReceiveStatistics now = pool.statistics();
            assertThat(now.posted()).isGreaterThanOrEqualTo(modest.share.unused());
        }
        assertThat(modest.failures).isEmpty();
    }

    @Test
    void anIdlePeerIsAskedOnceForWhatItHasBorrowedWhenAnotherNeedsIt() {
        Channel idle = new Channel();
        Channel busy = new Channel();
        for (int round = 0; round < 5; round++) {
            idle.arriveAll();
            idle.giveBackAll();
        }
        for (int tick = 0; tick < 3; tick++) {
            pool.maintain();
        }
        assertThat(idle.recalls).as("nobody needs more").isZero();
        for (int tick = 0; tick < 5; tick++) {
            busy.arriveAll();
            busy.giveBackAll();
            pool.maintain();
        }
        assertThat(idle.recalls).isEqualTo(1);
        assertThat(busy.recalls).isZero();
        int before = busy.share.unused();

        assertThat(idle.share.returned(12)).isTrue();
        assertThat(idle.share.unused()).isEqualTo(2);
        busy.arriveAll();
        busy.giveBackAll();
        assertThat(busy.share.unused()).isGreaterThan(before).isEqualTo(14);
        idle.arriveAll();
        idle.giveBackAll();
        assertThat(idle.failures).isEmpty();
    }

    @Test
    void aPeerCannotReturnWhatItDoesNotHaveNorUseWhatItHasReturned() {
        Channel channel = new Channel();
        assertThat(channel.share.returned(3)).isFalse();
        assertThat(channel.share.returned(-1)).isFalse();
        assertThat(channel.share.returned(1)).isTrue();
        channel.arrive();
        channel.arrive();

        assertThat(channel.kept).hasSize(1);
        assertThat(channel.failures).hasSize(1);
        channel.giveBack();
        channel.share.ended();
        assertThat(channel.share.returned(1)).as("the channel has ended").isFalse();
        assertAllIsBack();
    }

    @Test
    void aPeerThatSendsMoreThanItWasGrantedFailsAndCostsNothing() {
        Channel channel = new Channel();
        channel.arriveAll();
        channel.arrive();

        assertThat(channel.kept).hasSize(2);
        assertThat(channel.failures).containsExactly("the peer has sent more messages than it was granted receives");
        channel.giveBackAll();
        channel.share.ended();
        assertAllIsBack();
    }

    @Test
    void aFlushedReceiveComesBack() {
        Channel channel = new Channel();
        channel.complete(WorkStatus.FLUSHED);

        assertThat(channel.failures).containsExactly("receive FLUSHED");
        channel.share.ended();
        assertAllIsBack();
    }

    @Test
    void aChannelThatEndsGivesBackWhatItsPeerHasNotUsedAndItsMessagesLater() {
        Channel channel = new Channel();
        for (int round = 0; round < 5; round++) {
            channel.arriveAll();
            channel.giveBackAll();
        }
        channel.arrive();
        channel.arrive();
        channel.share.ended();
        channel.share.ended();

        assertThat(pool.statistics().kept()).isEqualTo(2);
        assertThat(pool.statistics().lent()).isEqualTo(2);
        channel.giveBackAll();
        assertAllIsBack();
    }

    @Test
    void aMessageIsGivenBackAfterThePoolWasClosed() {
        Channel channel = new Channel();
        channel.arrive();
        channel.share.ended();
        channel.queuePair.close();
        pool.close();

        channel.giveBack();

        assertThat(device.receives).hasSize(RECEIVES);
        assertThat(device.log).endsWith("destroy shared queue");
    }

    @Test
    void onlyWhereTheDeviceTellsItTheEndOfTheReceivesIsAwaited() {
        Channel channel = new Channel();
        assertThat(channel.share.isFlushed()).isFalse();
        pool.onEvent(new AsyncEvent(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED, channel.queuePair, 0));
        assertThat(channel.share.isFlushed()).isTrue();

        device.capabilities.remove(Capability.LAST_WORK_EVENT);
        pool = new SharedReceivePool(
                domain, new ReceiveMemory(domain.allocate(64, EnumSet.of(AccessFlag.LOCAL_WRITE)), 0, 1, 64), 1, 1, 1);
        assertThat(new Channel().share.isFlushed()).isTrue();
    }

    @Test
    void aDeviceWithoutSharedReceiveQueuesIsNamed() {
        device.capabilities.remove(Capability.SHARED_RECEIVE_QUEUE);
        MemoryRegion memory = domain.allocate(64, EnumSet.of(AccessFlag.LOCAL_WRITE));

        assertThatThrownBy(() -> new SharedReceivePool(domain, new ReceiveMemory(memory, 0, 1, 64), 1, 1, 1))
                .isInstanceOf(UnsupportedVerbException.class)
                .hasMessageContaining("device silent0 does not support SHARED_RECEIVE_QUEUE");
    }

    /// A channel's lower half: what completes is taken before the queue pair is destroyed, because the library
    /// of a device may drop it then.
    @Test
    void whatHasArrivedIsTakenBeforeTheQueuePairIsDestroyed() {
        Channel events = new Channel();
        try (RdmaAdapter<String> adapter =
                new RdmaAdapter<>("channel", group, domain, SIZES, cells, pool.source(16), arena, events)) {
            QueuePairInfo peer = new QueuePairInfo(5, 6, 7, new Gid(1, 2), PathMtu.MTU_1024);
            ChannelInfo description = new ChannelInfo(peer, 4, 64, 1, 0, 4096, 9);
            adapter.connect(description, ConnectionOptions.defaults(), false, options -> {
                adapter.queuePair().connect(peer, options);
                adapter.postReceives();
                return null;
            });
            assertThat(adapter.info(ConnectionOptions.defaults()).receives()).isEqualTo(2);
            device.complete(
                    device.receives.get(next++),
                    WorkStatus.SUCCESS,
                    CompletionOpcode.RECEIVE,
                    adapter.queuePair().number());
            group.poll();
            pool.repost(events.kept.remove());
            assertThat(device.sends).as("the peer is told").hasSize(1);

            device.complete(
                    device.receives.get(next++),
                    WorkStatus.SUCCESS,
                    CompletionOpcode.RECEIVE,
                    adapter.queuePair().number());
            adapter.stop();
            adapter.end();
            assertThat(device.log).as("in the hands of who polls").containsExactly("error");
        }
        assertThat(events.kept).hasSize(1);
        assertThat(device.log).containsExactly("error", "destroy");
        events.giveBackAll();
        events.share.ended();
        assertAllIsBack();
    }
}
