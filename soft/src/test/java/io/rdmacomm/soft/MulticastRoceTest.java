package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.testing.Allocation;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DatagramOptions;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.MulticastMembership;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Multicast over RoCE v2: who gets what is sent to a group, what strangers send to it, and the room for groups.
@Timeout(60)
class MulticastRoceTest {
    private static final String HERE = "127.0.0.86";
    private static final String THERE = "127.0.0.87";
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("239.1.7.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("239.1.7.2");
    private static final Gid GROUP = Gid.of(ADDRESS);
    private static final int KEY = 0x1122_3344;
    private static final int ROOM = 256;
    private static final int HEADER = GlobalRoutingHeader.BYTES;
    private static final int RECEIVES = 8;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final long TIMEOUT_NANOS = TIMEOUT.toNanos();
    private static final int WHOLE = Integer.MAX_VALUE;

    private final Arena arena = Arena.ofShared();
    private final Map<QueuePair, Long> buffers = new HashMap<>();
    private final List<RawRoce> strangers = new ArrayList<>();
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private MemoryRegion region;
    private Completions completions;

    @BeforeEach
    void open() throws IOException {
        try (RawRoce free = new RawRoce(HERE, HERE)) {
            assertThat(free).isNotNull();
        } catch (BindException e) {
            throw LeftOut.because(getClass(), "UDP port 4791 is taken, most likely by rdma_rxe (rmmod rdma_rxe)");
        }
        context = Soft.open("roce7=" + HERE + "?transport=roce");
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        region = domain.allocate(RECEIVES * (HEADER + ROOM), Set.of(AccessFlag.LOCAL_WRITE));
        completions = Completions.create(arena, 1);
    }

    @AfterEach
    void close() throws IOException {
        arena.close();
        if (context != null) {
            context.close();
        }
        for (RawRoce each : strangers) {
            each.close();
        }
    }

    private QueuePair datagrams(int key) {
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue)
                .withType(QueuePairType.UNRELIABLE_DATAGRAM)
                .withSizes(new QueueSizes(RECEIVES, RECEIVES, 1, 1, 0)));
        pair.startDatagrams(DatagramOptions.ofKey(key));
        return pair;
    }

    private QueuePair member() {
        QueuePair pair = datagrams(KEY);
        pair.attach(GROUP);
        receive(pair);
        return pair;
    }

    /// Posts a receive, whose number is that of its buffer.
    private void receive(QueuePair pair) {
        long id = buffers.computeIfAbsent(pair, _ -> (long) buffers.size());
        pair.post(ReceiveBatch.create(arena, 1, 1).receive(id).with(region, id * (HEADER + ROOM), HEADER + ROOM));
    }

    private RawRoce stranger(InetAddress to) throws IOException {
        return stranger(THERE, to);
    }

    private RawRoce stranger(String from, InetAddress to) throws IOException {
        RawRoce stranger = new RawRoce(from, to.getHostAddress());
        strangers.add(stranger);
        return stranger;
    }

    private static Packet packet() {
        Packet packet = new Packet();
        packet.opcode = PacketOpcode.DATAGRAM | PacketOpcode.SEND_ONLY;
        packet.destination = SendBatch.MULTICAST;
        packet.queueKey = KEY;
        packet.source = 0x55;
        return packet;
    }

    private void poll() {
        poll(1);
        assertThat(completions.status(0)).isEqualTo(WorkStatus.SUCCESS);
    }

    private void poll(int count) {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        for (int done = 0; done < count; done += queue.poll(completions)) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("only " + done + " of " + count + " completions");
            }
        }
    }

    private static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        while (!condition.getAsBoolean() && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
        assertThat(condition.getAsBoolean()).as(what).isTrue();
    }

    private void assertReceived(QueuePair pair, int payload, String from) {
        poll();
        assertThat(completions.queuePairNumber(0)).isEqualTo(pair.number());
        long at = completions.workId(0) * (HEADER + ROOM);
        assertThat(completions.byteLength(0)).isEqualTo(HEADER + 1);
        assertThat(region.segment().get(ValueLayout.JAVA_BYTE, at + HEADER)).isEqualTo((byte) payload);
        GlobalRoutingHeader header = GlobalRoutingHeader.read(region.segment(), at);
        assertThat(header.destination()).isEqualTo(GROUP);
        assertThat(header.source()).isEqualTo(Gid.of(InetAddress.ofLiteral(from)));
    }

    private AddressHandle handle(Gid group, int hops) {
        return domain.createAddressHandle(new AddressVector(group, 0, 0, 1, 0, 0, hops, 0));
    }

    // ---- Who gets what ----

    @Test
    void eachAttachedQueuePairGetsADatagramOfAnotherHost() throws IOException {
        QueuePair first = member();
        QueuePair second = member();
        QueuePair elsewhere = datagrams(KEY);
        elsewhere.attach(Gid.of(OTHER));
        receive(elsewhere);
        RawRoce host = stranger(ADDRESS);

        host.send(packet(), new byte[] {7}, 0);

        assertReceived(first, 7, THERE);
        assertReceived(second, 7, THERE);
        stranger("127.0.0.88", OTHER).send(packet(), new byte[] {8}, 0);
        poll();
        assertThat(completions.queuePairNumber(0)).isEqualTo(elsewhere.number());
        assertThat(queue.poll(completions)).isZero();
    }

    @Test
    void aMemberWhoseReceiveIsTooShortFailsAlone() throws IOException {
        QueuePair first = datagrams(KEY);
        first.attach(GROUP);
        first.post(ReceiveBatch.create(arena, 1, 1).receive(7).with(region, 7L * (HEADER + ROOM), HEADER));
        QueuePair second = member();

        stranger(ADDRESS).send(packet(), new byte[] {5}, 0);

        poll(1);
        assertThat(completions.queuePairNumber(0)).isEqualTo(first.number());
        assertThat(completions.status(0)).isEqualTo(WorkStatus.LOCAL_LENGTH_ERROR);
        assertReceived(second, 5, THERE);
        assertThat(first.state()).isEqualTo(QueuePairState.ERROR);
        first.detach(GROUP);
    }

    /// As with rxe: the device that sends is a member like all others.
    @Test
    void theSenderGetsItsOwnDatagramIfItIsAttached() {
        QueuePair sender = member();
        AddressHandle group = handle(GROUP, 1);
        region.segment().set(ValueLayout.JAVA_BYTE, 7L * (HEADER + ROOM), (byte) 9);

        sender.post(SendBatch.create(arena, 1, 1)
                .send(1)
                .with(region, 7L * (HEADER + ROOM), 1)
                .to(group, SendBatch.MULTICAST, KEY));

        assertReceived(sender, 9, HERE);
    }

    @Test
    void aSenderThatIsNotAttachedGetsNothing() {
        QueuePair sender = datagrams(KEY);
        receive(sender);
        QueuePair member = member();
        AddressHandle group = handle(GROUP, 64);

        sender.post(SendBatch.create(arena, 1, 1)
                .send(1)
                .with(region, 7L * (HEADER + ROOM), 1)
                .to(group, SendBatch.MULTICAST, KEY));

        assertReceived(member, 0, HERE);
        assertThat(queue.poll(completions)).isZero();
    }

    @Test
    void aThreadThatSleepsIsWokenByADatagramOfItsGroup() throws Exception {
        CompletionChannel channel = context.createCompletionChannel();
        queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(64).withChannel(channel));
        QueuePair pair = member();
        queue.arm();

        stranger(ADDRESS).send(packet(), new byte[] {3}, 0);

        assertThat(channel.awaitEvent(TIMEOUT)).isNotNull();
        queue.acknowledge(1);
        assertReceived(pair, 3, THERE);
        pair.close();
        queue.close();
        channel.close();
    }

    @Test
    void aDatagramToAGroupAllocatesNothing() {
        QueuePair pair = member();
        AddressHandle group = handle(GROUP, 1);
        ReceiveBatch again = ReceiveBatch.create(arena, 1, 1).receive(0).with(region, 0, HEADER + ROOM);
        SendBatch one = SendBatch.create(arena, 1, 1)
                .send(1)
                .with(region, 0, 1)
                .to(group, SendBatch.MULTICAST, KEY)
                .signaled();
        Allocation.assertNone("a datagram to a group", () -> {
            for (int i = 0; i < 100; i++) {
                pair.post(one);
                poll(2);
                pair.post(again);
            }
        });
    }

    // ---- Strangers ----

    @Test
    void nothingOfAHostileSenderArrivesAndWhatIsGoodStillDoes() throws IOException {
        QueuePair pair = member();
        RawRoce host = stranger(ADDRESS);
        byte[] payload = {1};

        Packet wrongKey = packet();
        wrongKey.queueKey = KEY + 1;
        host.send(wrongKey, payload, 0);
        Packet ownNumber = packet();
        ownNumber.destination = pair.number();
        host.send(ownNumber, payload, 0);
        Packet manager = packet();
        manager.destination = 1;
        host.send(manager, payload, 0);
        Packet connected = packet();
        connected.opcode = PacketOpcode.SEND_ONLY;
        host.send(connected, payload, 0);
        host.send(packet(), payload, 1 << 20);
        host.sendMisled(packet(), payload, OTHER, WHOLE);
        host.sendMisled(packet(), payload, InetAddress.ofLiteral(HERE), WHOLE);
        for (int bytes : new int[] {0, 1, 11, 20, 24}) {
            host.sendMisled(packet(), payload, ADDRESS, bytes);
        }
        host.send(packet(), new byte[] {2}, 0);

        assertReceived(pair, 2, THERE);
        assertThat(queue.poll(completions)).isZero();
        assertThat(Soft.counter(context, "roce_packets_for_nobody")).isEqualTo(3);
        assertThat(Soft.counter(context, "roce_packets_malformed") + Soft.counter(context, "roce_wrong_checksums"))
                .isEqualTo(8);
    }

    @Test
    void aPacketForTheMulticastNumberAtTheAddressOfTheDeviceIsDropped() throws IOException {
        QueuePair pair = member();
        stranger(InetAddress.ofLiteral(HERE)).send(packet(), new byte[] {1}, 0);

        await("a stray", () -> queue.poll(completions) == 0 && Soft.counter(context, "roce_packets_for_nobody") == 1);
        assertThat(pair.isOpen()).isTrue();
    }

    // ---- Room ----

    @Test
    void theDeviceTellsItsLimits() {
        assertThat(context.supports(Capability.MULTICAST)).isTrue();
        assertThat(context.limit(DeviceLimit.MAX_MULTICAST_GROUPS)).isEqualTo(256);
        assertThat(context.limit(DeviceLimit.MAX_MULTICAST_ATTACH)).isEqualTo(64);
        assertThat(context.limit(DeviceLimit.MAX_TOTAL_MULTICAST_ATTACH)).isEqualTo(256L * 64);
    }

    private static Gid group(int index) {
        return Gid.of(InetAddress.ofLiteral("239.2." + index / 256 + "." + index % 256));
    }

    @Test
    void oneGroupMoreThanTheLimitIsRefused() {
        QueuePair pair = datagrams(KEY);
        int most = (int) context.limit(DeviceLimit.MAX_MULTICAST_GROUPS);
        for (int i = 0; i < most; i++) {
            pair.attach(group(i));
        }
        assertThatThrownBy(() -> pair.attach(group(most)))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("ENOMEM")
                .hasMessageContaining("256 groups");
        pair.detach(group(0));
        pair.attach(group(most));
    }

    @Test
    void oneQueuePairMoreThanTheLimitIsRefused() {
        int most = (int) context.limit(DeviceLimit.MAX_MULTICAST_ATTACH);
        QueuePair first = datagrams(KEY);
        first.attach(GROUP);
        for (int i = 1; i < most; i++) {
            datagrams(KEY).attach(GROUP);
        }
        QueuePair last = datagrams(KEY);
        assertThatThrownBy(() -> last.attach(GROUP))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("ENOMEM")
                .hasMessageContaining("64 queue pairs");
        first.attach(GROUP);
        first.close();
        last.attach(GROUP);
    }

    @Test
    void aGroupOfIpv6IsRefused() {
        Gid group = Gid.of(InetAddress.ofLiteral("ff02::1234"));
        QueuePair pair = datagrams(KEY);
        assertThatThrownBy(() -> pair.attach(group))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("224.0.0.0/4");
        assertThatThrownBy(() -> handle(group, 1))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("IPv4");
    }

    // ---- Sockets ----

    /// How many sockets are bound to the group.
    private static long sockets() {
        try {
            return Files.readAllLines(Path.of("/proc/net/udp")).stream()
                    .filter(line -> line.contains(": 010701EF:12B7 "))
                    .count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"detach", "queue pair", "context"})
    void theSocketOfAGroupIsClosedWithItsLastMember(String how) {
        QueuePair first = member();
        QueuePair second = member();
        first.attach(GROUP);
        assertThat(sockets()).isOne();
        first.detach(GROUP);
        assertThatThrownBy(() -> first.detach(GROUP)).hasMessageContaining("EINVAL");
        assertThat(sockets()).isOne();

        switch (how) {
            case "detach" -> second.detach(GROUP);
            case "queue pair" -> second.close();
            default -> context.close();
        }

        await("no socket of the group", () -> sockets() == 0);
    }

    @Test
    void aQueuePairIsAttachedAgainWhileDatagramsArrive() throws IOException {
        QueuePair pair = datagrams(KEY);
        RawRoce host = stranger(ADDRESS);
        for (int round = 0; round < 50; round++) {
            pair.attach(GROUP);
            receive(pair);
            host.send(packet(), new byte[] {(byte) round}, 0);
            assertReceived(pair, round, THERE);
            host.send(packet(), new byte[] {(byte) round}, 0);
            pair.detach(GROUP);
        }
    }

    @Test
    void joiningHasNoPartInAttaching() throws IOException {
        QueuePair pair = datagrams(KEY);
        try (ConnectionManager manager = ConnectionManager.open(context);
                MulticastMembership joined = manager.joinMulticast(InetAddress.ofLiteral(HERE), ADDRESS, TIMEOUT)) {
            assertThat(joined.group()).isEqualTo(GROUP);
            assertThat(joined.target().queuePairNumber()).isEqualTo(SendBatch.MULTICAST);
            assertThat(joined.target().queueKey()).isEqualTo(DatagramTarget.QUEUE_KEY);
            assertThat(sockets()).as("a member does not receive").isZero();
            pair.attach(joined.group());
        }
        receive(pair);
        stranger(ADDRESS).send(packet(), new byte[] {4}, 0);
        assertReceived(pair, 4, THERE);
    }

    @Test
    void aGroupThatCannotBeJoinedIsRefused() {
        try (ConnectionManager manager = ConnectionManager.open(context)) {
            assertThatThrownBy(() -> manager.joinMulticast(InetAddress.ofLiteral("127.0.0.99"), ADDRESS, TIMEOUT))
                    .hasMessageContaining("EADDRNOTAVAIL");
            assertThatThrownBy(() -> manager.joinMulticast(
                            InetAddress.ofLiteral(HERE), InetAddress.ofLiteral("ff02::1234"), TIMEOUT))
                    .hasMessageContaining("EAFNOSUPPORT");
        }
    }
}
