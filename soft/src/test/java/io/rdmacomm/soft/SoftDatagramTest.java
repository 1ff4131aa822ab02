package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DatagramOptions;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.lang.foreign.Arena;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Datagrams of the software device: strangers who send anything, and what fails on this side.
class SoftDatagramTest {
    private static final int KEY = 0x1234;
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.1");

    private final Arena arena = Arena.ofShared();
    private final Context context = Rdma.open("soft0");
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(100));
    private final MemoryRegion region = domain.allocate(1 << 16, Set.of(AccessFlag.LOCAL_WRITE));
    private final Completions completions = Completions.create(arena, 1);
    private final ReceiveBatch receives = ReceiveBatch.create(arena, 1, 1);
    private final SendBatch sends = SendBatch.create(arena, 4, 1);
    private QueuePair pair;
    private AddressHandle self;

    @BeforeEach
    void open() {
        pair = domain.createQueuePair(options());
        pair.startDatagrams(DatagramOptions.ofKey(KEY));
        self = domain.createAddressHandle(pair.info(), PathOptions.defaults());
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    @Test
    void multicastIsRejectedAndSaysWhatToDoInstead() {
        Gid group = new Gid(0xff0e_0000_0000_0000L, 0xffff_ef01_0203L);

        assertThat(context.supports(Capability.MULTICAST)).isFalse();
        assertThatThrownBy(() -> pair.attach(group))
                .isInstanceOf(UnsupportedVerbException.class)
                .hasMessageContaining("soft0 does not support MULTICAST: send a datagram to each receiver instead");
        assertThatThrownBy(() -> pair.detach(group)).isInstanceOf(UnsupportedVerbException.class);
        assertThatThrownBy(() -> domain.createAddressHandle(new AddressVector(group, 0, 0, 1, 0, 0, 1, 0)))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("send a datagram to each receiver instead");
    }

    @Test
    void unreliableConnectionsAreRejectedAndSayWhatToUse() {
        assertThat(context.supports(Capability.UNRELIABLE_CONNECTED)).isFalse();
        assertThatThrownBy(() -> domain.createQueuePair(options().withType(QueuePairType.UNRELIABLE_CONNECTED)))
                .isInstanceOf(UnsupportedVerbException.class)
                .hasMessageContaining("soft0 does not support UNRELIABLE_CONNECTED: use RELIABLE_CONNECTED, which has");
    }

    private QueuePairOptions options() {
        return QueuePairOptions.reliable(queue).withType(QueuePairType.UNRELIABLE_DATAGRAM);
    }

    private void receive(QueuePair to, long id, int bytes) {
        assertThat(to.post(receives.clear().receive(id).with(region, id * 8192, bytes)))
                .isEqualTo(1);
    }

    private void send(long id, int bytes) {
        sends.clear()
                .send(id)
                .with(region, 0, bytes)
                .to(self, pair.number(), KEY)
                .signaled();
        assertThat(pair.post(sends)).isEqualTo(1);
    }

    /// The next completion, which has this id and status.
    private void completed(long id, WorkStatus status) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (queue.poll(completions) == 0) {
            assertThat(System.nanoTime()).as("a completion").isLessThan(end);
            Thread.onSpinWait();
        }
        assertThat(completions.workId(0)).isEqualTo(id);
        assertThat(completions.status(0)).isEqualTo(status);
    }

    private ByteBuffer packet(int destination, int key, int payload) {
        return ByteBuffer.allocate(28 + payload)
                .putInt(0x72554431)
                .putInt(destination)
                .putInt(0x77)
                .putInt(key)
                .putInt(0)
                .putShort((short) 0xabcd)
                .put((byte) 96)
                .put((byte) 0)
                .putInt(5 << 24);
    }

    private void sendTo(DatagramSocket socket, byte[] bytes) throws Exception {
        socket.send(new DatagramPacket(
                bytes,
                bytes.length,
                new InetSocketAddress(ADDRESS, context.port(1).lid())));
    }

    @Test
    void aStrangersPacketIsReceivedOnlyIfItIsADatagramForAQueuePairWithItsKey() throws Exception {
        QueuePair connected = domain.createQueuePair(QueuePairOptions.reliable(queue));
        receive(pair, 1, 4200);
        try (DatagramSocket stranger = new DatagramSocket(0, ADDRESS)) {
            Random random = new Random(1);
            for (int length = 0; length < 64; length++) {
                byte[] garbage = new byte[length];
                random.nextBytes(garbage);
                sendTo(stranger, garbage);
            }
            sendTo(stranger, packet(pair.number(), KEY + 1, 10).array());
            sendTo(stranger, packet(connected.number(), KEY, 10).array());
            sendTo(stranger, packet(pair.number() ^ 0xff0000, KEY, 10).array());
            sendTo(stranger, packet(-1, KEY, 10).array());
            sendTo(stranger, packet(pair.number(), KEY, 4097).array());
            byte[] good = packet(pair.number(), KEY, 3).put(30, (byte) 42).array();
            sendTo(stranger, good);
        }

        completed(1, WorkStatus.SUCCESS);

        assertThat(completions.byteLength(0)).isEqualTo(43);
        assertThat(completions.sourceQueuePair(0)).isEqualTo(0x77);
        assertThat(completions.sourceLid(0)).isEqualTo(0xabcd);
        assertThat(completions.hasImmediate(0)).isFalse();
        assertThat(region.segment().get(JAVA_BYTE, 8192 + 42)).isEqualTo((byte) 42);
        Gid gid = Gid.of(ADDRESS);
        assertThat(GlobalRoutingHeader.read(region.segment(), 8192))
                .isEqualTo(new GlobalRoutingHeader(6, gid, gid, 96, 0, GlobalRoutingHeader.INFINIBAND, 5));
        assertThat(queue.poll(completions)).isZero();
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void aReceiveThatIsTooShortFailsTheQueuePair() {
        receive(pair, 1, 40 + 99);
        receive(pair, 2, 4200);
        send(3, 100);
        // The engine completes the receive, this thread the send.
        int good = 0;
        for (int i = 0; i < 3; i++) {
            long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            while (queue.poll(completions) == 0) {
                assertThat(System.nanoTime()).isLessThan(end);
            }
            WorkStatus wanted = completions.workId(0) == 1
                    ? WorkStatus.LOCAL_LENGTH_ERROR
                    : completions.workId(0) == 2 ? WorkStatus.FLUSHED : WorkStatus.SUCCESS;
            assertThat(completions.status(0)).as("of %d", completions.workId(0)).isEqualTo(wanted);
            good++;
        }
        assertThat(good).isEqualTo(3);
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void aSendThatFailsEndsOnlyTheSendsUntilTheyAreStartedAgain() {
        sends.clear()
                .send(1)
                .with(region.address(), 8, region.localKey() ^ 0x5500)
                .to(self, pair.number(), KEY);
        sends.send(2).with(region, 0, 8).to(self, pair.number(), KEY);
        assertThat(pair.post(sends)).isEqualTo(2);
        completed(1, WorkStatus.LOCAL_PROTECTION_ERROR);
        completed(2, WorkStatus.FLUSHED);
        assertThat(pair.state()).isEqualTo(QueuePairState.SEND_QUEUE_ERROR);
        send(3, 8);
        completed(3, WorkStatus.FLUSHED);

        QueuePair other = domain.createQueuePair(options());
        other.startDatagrams(DatagramOptions.ofKey(KEY));
        receive(pair, 4, 4200);
        sends.clear().send(5).with(region, 0, 8).to(self, pair.number(), KEY);
        assertThat(other.post(sends)).isEqualTo(1);
        completed(4, WorkStatus.SUCCESS);

        pair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));
        send(6, 8);
        completed(6, WorkStatus.SUCCESS);
    }

    @Test
    void whatIsPostedWhileTheSendsDrainIsSentLater() throws Exception {
        pair.modify(
                new QueuePairAttributes().state(QueuePairState.SEND_QUEUE_DRAIN).drainNotification(true));
        AsyncEvent event = context.awaitAsyncEvent(Duration.ofSeconds(30));
        assertThat(event).isNotNull();
        assertThat(event.type()).isEqualTo(AsyncEventType.SEND_QUEUE_DRAINED);
        receive(pair, 1, 4200);
        send(2, 8);
        assertThat(queue.poll(completions)).isZero();
        pair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));
        completed(2, WorkStatus.SUCCESS);
        completed(1, WorkStatus.SUCCESS);
    }

    @Test
    void receivesMayComeFromASharedQueue() {
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4));
        QueuePair other = domain.createQueuePair(options().withSharedReceives(shared));
        other.startDatagrams(DatagramOptions.ofKey(KEY));
        shared.post(receives.clear().receive(1).with(region, 8192, 4200));
        sends.clear().send(2).with(region, 0, 8).to(self, other.number(), KEY);
        assertThat(pair.post(sends)).isEqualTo(1);
        completed(1, WorkStatus.SUCCESS);
        assertThat(completions.queuePairNumber(0)).isEqualTo(other.number());
    }

    @Test
    void aKeyWithTheHighestBitStandsForTheOwn() {
        receive(pair, 1, 4200);
        sends.clear().send(2).with(region, 0, 8).to(self, pair.number(), 0x8000_0000);
        assertThat(pair.post(sends)).isEqualTo(1);
        completed(1, WorkStatus.SUCCESS);
    }

    @Test
    void aHandleOfAnotherDomainIsNotUsed() {
        ProtectionDomain other = context.allocateProtectionDomain();
        AddressHandle foreign = other.createAddressHandle(pair.info(), PathOptions.defaults());
        sends.clear().send(1).with(region, 0, 8).to(foreign, pair.number(), KEY);
        assertThat(pair.post(sends)).isEqualTo(1);
        completed(1, WorkStatus.LOCAL_QUEUE_PAIR_ERROR);
    }

    @Test
    void anAddressThatCannotBeReachedIsRefused() {
        Gid gid = Gid.of(ADDRESS);
        refused(new AddressVector(Gid.of(InetAddress.ofLiteral("239.1.2.3")), 7, 0, 1, 0, 0, 1, 0), "no multicast");
        refused(new AddressVector(gid, 0, 0, 1, 0, 0, 1, 0), "is found by its GID and its LID");
        refused(new AddressVector(Gid.NONE, 7, 0, 1, 0, 0, 1, 0), "is found by its GID and its LID");
        refused(new AddressVector(gid, 7, 1, 1, 0, 0, 1, 0), "has port 1 with entry 0");
    }

    private void refused(AddressVector vector, String reason) {
        assertThatThrownBy(() -> domain.createAddressHandle(vector))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("EINVAL")
                .hasMessageContaining(reason);
    }

    @Test
    void aDatagramQueuePairIsNotConnectedByAddress() throws Exception {
        QueuePair fresh = domain.createQueuePair(options());
        try (ConnectionManager manager = ConnectionManager.open(context);
                var listener = manager.listen(new InetSocketAddress(ADDRESS, 0));
                var route = manager.resolve(listener.localAddress(), Duration.ofSeconds(10))) {
            assertThatThrownBy(() -> route.prepare(fresh))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContaining("UNRELIABLE_DATAGRAM");
        }
    }

    @Test
    void memoryCanBeClosedWhileDatagramsArrive() throws Exception {
        try (DatagramSocket stranger = new DatagramSocket(0, ADDRESS)) {
            byte[] good = packet(pair.number(), KEY, 1000).array();
            for (int round = 0; round < 50; round++) {
                QueuePair target = domain.createQueuePair(options());
                target.startDatagrams(DatagramOptions.ofKey(KEY));
                MemoryRegion memory = domain.allocate(4200, Set.of(AccessFlag.LOCAL_WRITE));
                ByteBuffer.wrap(good).putInt(4, target.number());
                target.post(receives.clear().receive(round).with(memory, 0, 4200));
                sendTo(stranger, good);
                memory.close();
                target.close();
                while (queue.poll(completions) > 0) {
                    assertThat(completions.workId(0)).isEqualTo(round);
                }
            }
        }
    }
}
