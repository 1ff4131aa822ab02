package io.rdmacomm.comm.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.rdmacomm.comm.SilentDevice;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.CompletionQueues;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// A channel's lower half over a device that completes nothing by itself.
final class RdmaAdapterTest {
    private static final ChannelSizes SIZES = new ChannelSizes(8, 8, 64, 0);

    private final SilentDevice device = new SilentDevice();
    private final Arena arena = Arena.ofShared();
    private Context context;
    private CompletionGroup group;
    private RdmaAdapter<String> adapter;

    /// Writes down what it is told; operations are told by their handler.
    private final class Log implements ChannelEvents<String> {
        @Override
        public void onEnd(String handler, long context, WorkStatus status, long result) {
            device.log.add(handler + " " + status);
        }

        @Override
        public void onArrival(int receive, long length, boolean notice, boolean tagged, int tag) {
            device.log.add("message in " + receive);
        }

        @Override
        public void onWorkFailed(String what, WorkStatus status, int vendorError) {
            device.log.add(what + " failed: " + status);
        }

        @Override
        public void onFailed(RdmaException why) {
            device.log.add("failed: " + why.getMessage());
        }

        @Override
        public void onRecall() {
            device.log.add("recall");
        }

        @Override
        public void onAttention() {
            device.log.add("attention");
        }
    }

    private void connect(Capability... capabilities) {
        device.capabilities.addAll(List.of(capabilities));
        context = Device.of(device).open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        group = new CompletionGroup(new CompletionQueues(context), "group", CompletionGroup.SPIN_FOREVER, 100, 2, true);
        MemoryRegion pool = domain.allocate(ReceiveMemory.bytes(8, 64), EnumSet.of(AccessFlag.LOCAL_WRITE));
        MemoryRegion cells = domain.allocate(SIZES.cellBytes(), AccessFlag.allRemote());
        ChannelMemory memory = new ChannelMemory(cells, 0);
        OwnReceives receives = new OwnReceives(8, new ReceiveMemory(pool, 0, 8, 64), arena);
        adapter = new RdmaAdapter<>("channel", group, domain, SIZES, memory, receives, arena, new Log());
        QueuePairInfo peer = new QueuePairInfo(5, 6, 7, new Gid(1, 2), PathMtu.MTU_1024);
        ConnectionOptions how = ConnectionOptions.defaults();
        adapter.connect(new ChannelInfo(peer, 4, 64, 1, 0, 4096, 9), how, false, options -> {
            adapter.queuePair().connect(peer, options);
            adapter.postReceives();
            return null;
        });
    }

    @AfterEach
    void close() {
        adapter.close();
        group.close();
        context.close();
        arena.close();
    }

    private void write(String name) {
        SendQueue<String> sends = adapter.sends();
        sends.lock().lock();
        try {
            Operation write =
                    sends.newOperation().local(Operation.WRITE, 1024, 8, 1).remote(2048, 2);
            assertThat(sends.hasRoom(1) && sends.post(write, name, 0)).isTrue();
        } finally {
            sends.lock().unlock();
        }
    }

    /// Has every receive take a message.
    private void receiveAll() {
        device.receives.forEach(receive -> device.complete(receive, WorkStatus.SUCCESS, CompletionOpcode.RECEIVE));
        assertThat(group.poll()).isEqualTo(SIZES.receives());
    }

    private void complete(int send, WorkStatus status) {
        device.complete(device.sends.get(send), status, CompletionOpcode.WRITE);
    }

    @Test
    void whatTheDeviceNeverFlushesEndsOnceInOrderAfterTheQueuePairIsDestroyed() {
        connect();
        write("one");
        write("two");
        write("three");

        adapter.stop();
        assertThat(group.poll()).isZero();
        assertThat(device.log).containsExactly("error");
        adapter.end();
        adapter.end();
        group.poll();

        assertThat(device.log).containsExactly("error", "destroy", "one FLUSHED", "two FLUSHED", "three FLUSHED");
        assertThat(adapter.sends().inFlight()).isZero();
    }

    @Test
    void whatHasCompletedBeforeTheEndKeepsItsStatus() {
        connect();
        write("one");
        write("two");
        complete(0, WorkStatus.SUCCESS);

        adapter.stop();
        adapter.end();
        group.poll();

        assertThat(device.log).containsExactly("error", "destroy", "one SUCCESS", "two FLUSHED");
    }

    @Test
    void lateCompletionsAreIgnored() {
        connect();
        write("one");
        adapter.stop();
        adapter.end();
        group.poll();
        device.log.clear();

        complete(0, WorkStatus.FLUSHED);
        device.complete(device.receives.getFirst(), WorkStatus.FLUSHED, CompletionOpcode.RECEIVE);
        group.poll();

        assertThat(device.log).isEmpty();
    }

    @Test
    void anOperationThatIsFlushedTwiceEndsOnce() {
        connect();
        write("one");
        adapter.stop();
        device.log.clear();

        complete(0, WorkStatus.FLUSHED);
        complete(0, WorkStatus.FLUSHED);
        group.poll();

        assertThat(device.log).containsExactly("write failed: FLUSHED", "one FLUSHED");
    }

    @Test
    void closingEndsWhatIsInFlightBeforeItReturns() {
        connect();
        write("one");

        adapter.stop();
        adapter.close();

        assertThat(device.log).containsExactly("error", "destroy", "one FLUSHED");
    }

    static Stream<Arguments> devices() {
        return Stream.of(arguments(false, false), arguments(true, true));
    }

    @ParameterizedTest
    @MethodSource("devices")
    void onlyDevicesThatFlushGetTimeToFlush(boolean flushes, boolean waits) throws InterruptedException {
        connect(flushes ? new Capability[] {Capability.FLUSH_IN_ERROR} : new Capability[0]);
        write("one");
        adapter.stop();
        Duration timeout = waits ? Duration.ofMillis(20) : Duration.ofHours(1);
        long start = System.nanoTime();

        new ProgressWait(List.of(adapter), start + timeout.toNanos()).untilFlushed(false);

        assertThat(System.nanoTime() - start >= Duration.ofMillis(20).toNanos() || !waits)
                .isTrue();
        assertThat(device.log).containsExactly("error");
    }

    @Test
    void aFlushOfTheDeviceEndsTheWait() throws InterruptedException {
        connect(Capability.FLUSH_IN_ERROR);
        write("one");
        adapter.stop();
        complete(device.sends.size() - 1, WorkStatus.FLUSHED);

        new ProgressWait(
                        List.of(adapter),
                        System.nanoTime() + Duration.ofHours(1).toNanos())
                .untilFlushed(true);

        assertThat(device.log).contains("one FLUSHED");
    }

    @Test
    void aCompletionEndsAllOperationsInFrontOfIt() {
        connect();
        write("one");
        write("two");
        complete(1, WorkStatus.SUCCESS);
        group.poll();

        assertThat(device.log).containsExactly("one SUCCESS", "two SUCCESS");
    }

    private PreparedOperations<String> three() {
        PreparedOperations<String> three = new PreparedOperations<>(arena, 3, 1, adapter.sends());
        for (String name : List.of("one", "two", "three")) {
            three.next().local(Operation.WRITE, 1024, 8, 1).remote(2048, 2);
            three.add(name, 0);
        }
        return three;
    }

    private void post(PreparedOperations<String> operations) {
        adapter.sends().lock().lock();
        try {
            adapter.sends().post(operations);
        } finally {
            adapter.sends().lock().unlock();
        }
    }

    @Test
    void aBatchOfWhichTheDeviceTakesNothingHasNotStarted() {
        connect();
        device.sendsUntilError = 0;

        assertThatThrownBy(() -> post(three())).isInstanceOf(VerbException.class);

        assertThat(adapter.sends().inFlight()).isZero();
        device.sendsUntilError = Integer.MAX_VALUE;
        write("four");
        complete(0, WorkStatus.SUCCESS);
        assertThat(group.poll()).isOne();
        assertThat(device.log).containsExactly("four SUCCESS");
    }

    /// Those that it has taken may be executed, so none can be withdrawn.
    @Test
    void aBatchOfWhichTheDeviceTakesAPartFailsTheChannel() {
        connect();
        device.sendsUntilError = 2;

        post(three());

        assertThat(device.log).singleElement().asString().contains("did not take all operations of a batch");
        device.log.clear();
        adapter.close();
        assertThat(device.log).containsSubsequence("one FLUSHED", "two FLUSHED", "three FLUSHED");
    }

    @Test
    void receivesArePostedAgainAQuarterAtATimeAndAnnouncedToThePeer() {
        connect();
        assertThat(device.receives).hasSize(8);
        receiveAll();
        adapter.receives().repost(3);
        assertThat(device.receives).hasSize(8);
        adapter.receives().repost(5);

        assertThat(device.receives).hasSize(10);
        assertThat(device.receives.get(8)).isEqualTo(device.receives.get(3));
        assertThat(device.receives.get(9)).isEqualTo(device.receives.get(5));
        assertThat(device.sends).as("the credit update").hasSize(1);
        assertThat(adapter.counters().statistics().value(ChannelCounter.CREDIT_UPDATES))
                .isEqualTo(1);
        assertThat(adapter.sends().inFlight()).as("operations of the user").isZero();
    }

    @Test
    void aCreditUpdateInFlightIsFollowedByOneForAllThatCameMeanwhile() {
        connect();
        receiveAll();
        for (int receive = 0; receive < 8; receive++) {
            adapter.receives().repost(receive);
        }
        assertThat(device.sends).hasSize(1);

        complete(0, WorkStatus.SUCCESS);
        group.poll();
        assertThat(device.sends).hasSize(2);
        complete(1, WorkStatus.SUCCESS);
        group.poll();
        assertThat(device.sends).hasSize(2);
    }

    @Test
    void afterTheStopNothingIsPosted() {
        connect();
        receiveAll();
        adapter.stop();
        for (int receive = 0; receive < 8; receive++) {
            adapter.receives().repost(receive);
        }

        assertThat(device.receives).hasSize(8);
        assertThat(device.sends).isEmpty();
    }

    @Test
    void aThreadThatWaitsForItsOwnWriteIsWokenByTheEnd() throws Exception {
        connect();
        write("one");
        CompletableFuture<Boolean> idle = CompletableFuture.supplyAsync(() -> {
            try {
                return new ProgressWait(
                                List.of(adapter),
                                System.nanoTime() + Duration.ofMinutes(1).toNanos())
                        .untilIdle();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });

        adapter.stop();
        adapter.end();

        assertThat(idle.get()).isTrue();
        assertThat(device.log).contains("one FLUSHED");
    }
}
