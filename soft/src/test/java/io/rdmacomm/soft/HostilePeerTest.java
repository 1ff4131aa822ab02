package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.FpduChecksum;
import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.soft.tcp.LinkPoller;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.soft.tcp.TcpTransport;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Strangers at the listener of a device, and peers that break the rules: each costs its own connection, and the
/// others continue.
class HostilePeerTest {
    private static final int PSN = Impostor.PSN;
    private static final int BYTES = 4096;
    private static final int MOST_CALLERS = 1024;
    private static final int FLOOD = 1400;

    private final Arena arena = Arena.ofShared();
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private MemoryRegion memory;

    @BeforeEach
    void open() {
        context = Soft.open("tcp0=127.0.0.1?sharedMemory=false");
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(256));
        memory = domain.allocate(BYTES, AccessFlag.allRemote());
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    private QueuePair queuePair() {
        return domain.createQueuePair(QueuePairOptions.reliable(completions));
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private SocketChannel call() throws IOException {
        return SocketChannel.open(new InetSocketAddress(
                InetAddress.getLoopbackAddress(), Soft.of(context).lid()));
    }

    private static boolean isEnded(SocketChannel channel) {
        try {
            channel.configureBlocking(false);
            return channel.read(ByteBuffer.allocate(64)) < 0;
        } catch (IOException e) {
            return true;
        }
    }

    /// The device still does what it is for.
    private void works() {
        QueuePair one = queuePair();
        QueuePair other = queuePair();
        ConnectionOptions patient = ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(4), 7);
        one.connect(other.info(), patient);
        other.connect(one.info(), patient);
        one.post(SendBatch.create(arena, 1, 1).write(1, 0, 0).signaled());
        Completions done = Completions.create(arena, 8);
        await("a completion", () -> completions.poll(done) == 1);
        assertThat(done.isSuccess(0)).isTrue();
        one.close();
        other.close();
    }

    @Test
    void garbageCostsItsConnection() throws IOException {
        long seed = System.nanoTime();
        System.out.println("HostilePeerTest: seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 50; i++) {
            byte[] garbage = new byte[20 + random.nextInt(2000)];
            random.nextBytes(garbage);
            try (SocketChannel stranger = call()) {
                stranger.write(ByteBuffer.wrap(garbage));
                await("the end of the connection", () -> isEnded(stranger));
            }
        }
        await("all are counted", () -> Soft.counter(context, "tcp_callers_turned_away") == 50);
        works();
    }

    @Test
    void halfOpenConnectionsDoNotKeepOthersOut() throws IOException {
        List<SocketChannel> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                silent.add(call());
            }
            works();
            await("they are given up", () -> Soft.counter(context, "tcp_callers_turned_away") == 200);
            // They are counted before they are closed.
            silent.forEach(each -> await("the end of the connection", () -> isEnded(each)));
        } finally {
            for (SocketChannel each : silent) {
                each.close();
            }
        }
    }

    /// More than the device serves at a time: a newcomer takes the place of one that says nothing.
    @Test
    void moreSilentCallersThanAreServedKeepNobodyOut() throws IOException {
        QueuePair victim = victim();
        List<SocketChannel> silent = new ArrayList<>();
        try {
            for (int i = 0; i < FLOOD; i++) {
                silent.add(call());
            }
            impersonate(victim, PSN).close();
        } finally {
            for (SocketChannel each : silent) {
                each.close();
            }
        }
    }

    /// A refused caller that does not hang up costs an open file for a moment: one of those that strangers may have.
    @Test
    void refusedCallersThatDoNotHangUpAreLimited() throws IOException {
        byte[] request = new Impostor(context, victim()).request(PSN ^ 1, 0, LinkTerms.LONGEST_SEGMENT, false);
        List<SocketChannel> refused = new ArrayList<>();
        try {
            int before = openFiles();
            int most = 0;
            for (int i = 1; i <= FLOOD; i++) {
                SocketChannel caller = call();
                refused.add(caller);
                caller.write(ByteBuffer.wrap(request));
                int answered = i;
                await("an answer", () -> Soft.counter(context, "tcp_callers_turned_away") >= answered);
                if (i > MOST_CALLERS) {
                    most = Math.max(most, openFiles() - before - refused.size());
                }
            }
            // And some that the JVM opens at any time.
            assertThat(most).isLessThan(MOST_CALLERS + 50);
            works();
        } finally {
            for (SocketChannel each : refused) {
                each.close();
            }
        }
    }

    private static int openFiles() {
        String[] files = new File("/proc/self/fd").list();
        assertThat(files).isNotNull();
        return files.length;
    }

    /// Does what the peer of `victim` would do, until the connection stands.
    private SocketChannel impersonate(QueuePair victim, int psn) throws IOException {
        return impersonate(victim, psn, LinkTerms.FEATURES, LinkTerms.LONGEST_SEGMENT);
    }

    private SocketChannel impersonate(QueuePair victim, int psn, int features, int longestSegment) throws IOException {
        Impostor impostor = new Impostor(context, victim);
        SocketChannel channel = impostor.call();
        channel.write(ByteBuffer.wrap(impostor.request(psn, features, longestSegment, false)));
        readReply(channel, psn != PSN);
        return channel;
    }

    private static void readReply(SocketChannel channel, boolean rejected) throws IOException {
        MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REPLY);
        while (!reader.advance()) {
            assertThat(channel.read(reader.buffer())).isNotNegative();
        }
        assertThat(reader.frame().isRejected()).isEqualTo(rejected);
    }

    private QueuePair victim() {
        QueuePair victim = queuePair();
        Impostor.connect(context, victim);
        return victim;
    }

    /// It never gives up a peer that is silent.
    private QueuePair patientVictim() {
        QueuePair victim = queuePair();
        Impostor.connect(
                context, victim, ConnectionOptions.defaults().withTimeout(ChronoUnit.FOREVER.getDuration(), 7));
        return victim;
    }

    @Test
    void aCallerThatDoesNotKnowTheNumbersIsRejected() throws IOException {
        QueuePair victim = victim();
        impersonate(victim, PSN ^ 1).close();
        assertThat(victim.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        works();
    }

    /// It knows all numbers, but is on another host.
    @Test
    void aCallerFromAnotherAddressIsRejected() throws IOException {
        QueuePair victim = victim();
        callFromElsewhere(context, victim, true);
        impersonate(victim, PSN).close();
        works();
    }

    @Test
    void aCallerBehindNatIsAcceptedIfTheDeviceIsToldSo() throws IOException {
        String entry = "tcp0=127.0.0.1?sharedMemory=false&callers=any";
        try (Context open = Soft.open(entry)) {
            QueuePair victim = open.allocateProtectionDomain()
                    .createQueuePair(QueuePairOptions.reliable(
                            open.createCompletionQueue(CompletionQueueOptions.ofCapacity(16))));
            Impostor.connect(open, victim);
            callFromElsewhere(open, victim, false);
        }
    }

    private static void callFromElsewhere(Context open, QueuePair victim, boolean rejected) throws IOException {
        try (SocketChannel caller = SocketChannel.open()) {
            caller.bind(new InetSocketAddress("127.0.0.2", 0));
            caller.connect(new InetSocketAddress(
                    InetAddress.getLoopbackAddress(), Soft.of(open).lid()));
            caller.write(ByteBuffer.wrap(new Impostor(open, victim).request(PSN, 0, LinkTerms.LONGEST_SEGMENT, false)));
            readReply(caller, rejected);
        }
    }

    @Test
    void framesThatBreakTheRulesFailTheirQueuePairAndTouchNothing() throws IOException {
        long seed = System.nanoTime();
        System.out.println("HostilePeerTest: seed " + seed);
        Random random = new Random(seed);
        memory.segment().fill((byte) 0x55);
        for (int i = 0; i < 40; i++) {
            QueuePair victim = victim();
            try (SocketChannel peer = impersonate(victim, PSN)) {
                peer.write(frame(random));
                await("the queue pair fails", () -> victim.state() == QueuePairState.ERROR);
            }
            victim.close();
        }
        assertThat(memory.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly((byte) 0x55);
        assertThat(domain.isOpen()).isTrue();
        works();
    }

    /// The ready-to-receive frame, and a frame that no peer may send: a forged key, a range outside, or noise.
    private ByteBuffer frame(Random random) {
        ByteBuffer bytes = ByteBuffer.allocate(4096);
        SegmentHeader header = new SegmentHeader();
        header.setTagged(0, true, 1, 0, 0);
        header.encode(bytes, 0);
        int at = 20;
        switch (random.nextInt(4)) {
            case 0 -> header.setTagged(0, true, memory.remoteKey() ^ (1 << random.nextInt(32)), memory.address(), 64);
            case 1 -> header.setTagged(0, true, memory.remoteKey(), memory.address() + BYTES - 63, 64);
            case 2 -> header.setTagged(0, true, memory.remoteKey(), memory.address() - 1, 64);
            default -> header.setUntagged(15, 1);
        }
        if (header.opcode == 15) {
            bytes.putInt(at, random.nextInt() | 0x3f);
        } else {
            header.encode(bytes, at);
        }
        return bytes.limit(at + 512);
    }

    /// With checksums, not a byte of a damaged frame is used: its key or address may be what was damaged.
    @ParameterizedTest
    @ValueSource(ints = {64, 3000, 40_000, 65_000})
    void aDamagedFrameTouchesNothing(int bytes) throws IOException {
        MemoryRegion target = domain.allocate(1 << 16, AccessFlag.allRemote());
        QueuePair victim = victim();
        try (SocketChannel peer = call()) {
            byte[] request = new Impostor(context, victim).request(PSN, 0, LinkTerms.LONGEST_SEGMENT, true);
            peer.write(ByteBuffer.wrap(request));
            readReply(peer, false);
            peer.write(checked(1, 0, 0));
            peer.write(checked(target.remoteKey(), target.address(), bytes));
            ByteBuffer damaged = checked(target.remoteKey(), target.address() + 1, bytes);
            damaged.put(damaged.limit() / 2, (byte) 0x54);
            peer.write(damaged);
            await("the queue pair fails", () -> victim.state() == QueuePairState.ERROR);
        }
        byte[] after = target.segment().toArray(ValueLayout.JAVA_BYTE);
        byte[] expected = new byte[after.length];
        Arrays.fill(expected, 0, bytes, (byte) 0x55);
        assertThat(after).isEqualTo(expected);
        assertThat(Soft.counter(context, "tcp_violations")).isEqualTo(1);
    }

    /// A WRITE with a checksum.
    private static ByteBuffer checked(int key, long address, int bytes) {
        SegmentHeader header = new SegmentHeader();
        header.setTagged(0, true, key, address, bytes);
        int end = header.headerBytes() + bytes;
        ByteBuffer frame = ByteBuffer.allocateDirect(Fpdu.bytes(header.segmentBytes()));
        header.encode(frame, 0);
        for (int i = header.headerBytes(); i < end; i++) {
            frame.put(i, (byte) 0x55);
        }
        FpduChecksum checksum = new FpduChecksum();
        checksum.update(frame, 0, end);
        Fpdu.writeTrailer(frame, end, header.segmentBytes(), checksum);
        return frame;
    }

    @Test
    void aPeerThatEndsInTheMiddleOfAMessageFailsTheQueuePair() throws IOException {
        QueuePair victim = victim();
        try (SocketChannel peer = impersonate(victim, PSN)) {
            ByteBuffer bytes = ByteBuffer.allocate(64);
            SegmentHeader header = new SegmentHeader();
            header.setTagged(0, true, 1, 0, 0);
            header.encode(bytes, 0);
            header.setTagged(0, true, memory.remoteKey(), memory.address(), 4096);
            header.encode(bytes, 20);
            peer.write(bytes);
        }
        await("the queue pair fails", () -> victim.state() == QueuePairState.ERROR);
        Set<AccessFlag> rights = memory.access();
        assertThat(rights).isNotEmpty();
        works();
    }

    /// Too late to be refused when it is posted: it fails as a request that the peer cannot carry out.
    @Test
    void requestsThatThePeerDoesNotSupportFail() throws IOException {
        QueuePair victim = patientVictim();
        SendBatch batch = SendBatch.create(arena, 1, 1);
        victim.post(batch.sendWithImmediate(1, 99).with(memory, 0, 4).signaled());
        try (SocketChannel peer = impersonate(victim, PSN, 0, LinkTerms.LONGEST_SEGMENT)) {
            peer.write(readyToReceive());
            Completions done = Completions.create(arena, 8);
            await("the SEND fails", () -> completions.poll(done) == 1);
            assertThat(done.status(0)).isEqualTo(WorkStatus.REMOTE_INVALID_REQUEST);
            await("the end of the connection", () -> isEnded(peer));
        }
        works();
    }

    @ParameterizedTest
    @ValueSource(ints = {18, 0, -1, Integer.MIN_VALUE})
    void aPeerThatWantsSegmentsWithoutRoomGetsItsData(int longestSegment) throws IOException {
        QueuePair victim = victim();
        try (SocketChannel peer = impersonate(victim, PSN, 0, longestSegment)) {
            victim.post(SendBatch.create(arena, 1, 1)
                    .write(1, 0x1000, 5)
                    .with(memory, 0, BYTES)
                    .signaled());
            // The responder may speak.
            peer.write(readyToReceive());
            ByteBuffer bytes = ByteBuffer.allocate(16 * 1024);
            SegmentHeader header = new SegmentHeader();
            Completions done = Completions.create(arena, 8);
            await("the WRITE has been sent", () -> completions.poll(done) == 1);
            assertThat(done.isSuccess(0)).isTrue();
            int placed = 0;
            while (placed < BYTES) {
                bytes.clear().limit(2);
                readFully(peer, bytes);
                bytes.clear().position(2).limit(Fpdu.bytes(Short.toUnsignedInt(bytes.getShort(0))));
                readFully(peer, bytes);
                assertThat(header.decode(bytes, 0)).isEqualTo(Violation.NONE);
                assertThat(header.payloadBytes).as("room in each segment").isPositive();
                placed += header.payloadBytes;
            }
        }
        await("the queue pair fails", () -> victim.state() == QueuePairState.ERROR);
    }

    private static void readFully(SocketChannel peer, ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            assertThat(peer.read(into)).isNotNegative();
        }
    }

    private static boolean isBlocked(QueuePair queuePair) {
        return Soft.of(queuePair).transport() instanceof TcpTransport transport
                && transport.driver().isBlocked();
    }

    /// A thread polls all the time, so it is asked to send what the sockets do not take: with more links
    /// than it reads directly, each that is taken up makes it ask for another one.
    @Test
    void pollingReturnsEvenIfManyPeersDoNotRead() throws Exception {
        MemoryRegion large = domain.allocate(16L << 20, AccessFlag.allRemote());
        List<SocketChannel> peers = new ArrayList<>();
        AtomicLong polls = new AtomicLong();
        List<QueuePair> victims = new ArrayList<>();
        AtomicLong completed = new AtomicLong();
        AtomicBoolean enough = new AtomicBoolean();
        Thread poller = Thread.ofPlatform().daemon().start(() -> {
            try (Arena own = Arena.ofConfined()) {
                Completions done = Completions.create(own, 8);
                while (!enough.get()) {
                    completed.addAndGet(completions.poll(done));
                    polls.incrementAndGet();
                }
            }
        });
        try {
            for (int i = 0; i < 12; i++) {
                QueuePair victim = patientVictim();
                victims.add(victim);
                peers.add(impersonate(victim, PSN, 0, LinkTerms.LONGEST_SEGMENT));
                peers.getLast().write(readyToReceive());
                victim.post(SendBatch.create(arena, 1, 1)
                        .write(i, 0x1000, 5)
                        .with(large, 0, 16 << 20)
                        .signaled());
            }
            await("no socket takes more", () -> victims.stream().allMatch(HostilePeerTest::isBlocked));
            for (int round = 0; round < 100; round++) {
                // Something comes in on each: a link that the engine has had until now is taken up by who polls.
                for (SocketChannel each : peers) {
                    each.write(readyToReceive());
                }
                LockSupport.parkNanos(1_000_000);
            }
            long before = polls.get();
            await("polls return", () -> polls.get() - before > 20_000);
            assertThat(completed).as("WRITEs that no peer has read").hasValue(0);
        } finally {
            enough.set(true);
            for (SocketChannel each : peers) {
                each.close();
            }
            poller.join(20_000);
        }
        assertThat(poller.isAlive()).isFalse();
    }

    /// READs of far more than sockets hold, by peers that do not read the answers.
    @Test
    void readsOfPeersThatDoNotReadCostNoMemoryAndHoldNobodyUp() throws IOException {
        MemoryRegion large = domain.allocate(16L << 20, AccessFlag.allRemote());
        List<SocketChannel> peers = new ArrayList<>();
        List<QueuePair> victims = new ArrayList<>();
        try {
            for (int i = 0; i < 12; i++) {
                victims.add(patientVictim());
                peers.add(impersonate(victims.getLast(), PSN, 0, LinkTerms.LONGEST_SEGMENT));
                peers.getLast().write(readyToReceive());
            }
            works();
            long before = directBytes();
            for (SocketChannel each : peers) {
                each.write(reads(large, 1, 4));
            }
            await("no socket takes more", () -> victims.stream().allMatch(HostilePeerTest::isBlocked));
            for (int i = 0; i < 10; i++) {
                works();
            }
            assertThat(directBytes() - before).as("bytes for 768 MiB").isLessThan(8 << 20);
            assertThat(victims).allMatch(victim -> victim.state() == QueuePairState.READY_TO_SEND);
            // More at a time than was agreed on: none is kept.
            for (SocketChannel each : peers) {
                each.write(reads(large, 5, 4 * LinkTerms.MOST_READS));
            }
            works();
            assertThat(directBytes() - before).as("bytes for 192 GiB").isLessThan(8 << 20);
        } finally {
            for (SocketChannel each : peers) {
                each.close();
            }
        }
        await("all have failed", () -> victims.stream().allMatch(each -> each.state() == QueuePairState.ERROR));
        works();
    }

    private static ByteBuffer reads(MemoryRegion source, int first, int count) {
        SegmentHeader header = new SegmentHeader();
        ReadRequest request = new ReadRequest();
        request.sinkKey = 1;
        request.bytes = (int) source.length();
        request.sourceKey = source.remoteKey();
        request.sourceAddress = source.address();
        header.setUntagged(Opcode.READ_REQUEST, first);
        int frame = Fpdu.bytes(header.segmentBytes());
        ByteBuffer all = ByteBuffer.allocate(count * frame);
        for (int i = 0; i < count; i++) {
            header.messageNumber = first + i;
            header.encode(all, i * frame);
            request.encode(all, i * frame);
        }
        return all;
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    /// The engine waits for room in the socket. When there is some, it finds that a thread polls, and lets go of
    /// the link: that thread must be asked to drive it, because no data arrives that would make it do so. What
    /// polls here is the engine's own thread, between its other work: a pause of more than 2 ms, after which
    /// the engine drives the link again, is rare.
    @Test
    void dataThatAPeerReadsLateIsSentWhileAThreadPolls() throws Exception {
        int bytes = 32 << 20;
        MemoryRegion large = domain.allocate(bytes, AccessFlag.allRemote());
        QueuePair victim = patientVictim();
        try (SocketChannel peer = impersonate(victim, PSN, 0, LinkTerms.LONGEST_SEGMENT)) {
            peer.configureBlocking(false);
            peer.write(readyToReceive());
            victim.post(SendBatch.create(arena, 1, 1)
                    .write(1, 0x1000, 5)
                    .with(large, 0, bytes)
                    .signaled());
            await("the socket takes no more", () -> isBlocked(victim));
            Completions done = Completions.create(arena, 8);
            for (int attempt = 0; attempt < 5 && !isReadDirectly(victim); attempt++) {
                onEngine(() -> {
                    readAll(peer);
                    return completions.poll(done);
                });
                for (int poll = 0; poll < 20; poll++) {
                    onEngine(() -> completions.poll(done));
                }
            }
            assertThat(isReadDirectly(victim)).as("the link is with who polls").isTrue();
            await("the WRITE has been sent", () -> {
                readAll(peer);
                return completions.poll(done) == 1;
            });
            assertThat(done.isSuccess(0)).isTrue();
        }
    }

    private boolean isReadDirectly(QueuePair queuePair) {
        return Soft.of(queuePair).transport() instanceof TcpTransport transport
                && Soft.of(completions).arrivals().place() instanceof LinkPoller links
                && transport.driver().isReadDirectly(links);
    }

    private <T> T onEngine(Callable<T> task) throws Exception {
        FutureTask<T> future = new FutureTask<>(task);
        Soft.of(context).engine().execute(future);
        await("the engine", future::isDone);
        return future.get();
    }

    @Test
    void requestsPostedBeforeTheLinkAreSentWithoutPolling() throws IOException {
        int bytes = 32 << 20;
        MemoryRegion large = domain.allocate(bytes, AccessFlag.allRemote());
        QueuePair victim = patientVictim();
        victim.post(SendBatch.create(arena, 1, 1).write(1, 0x1000, 5).with(large, 0, bytes));
        try (SocketChannel peer = impersonate(victim, PSN)) {
            peer.configureBlocking(false);
            ByteBuffer into = ByteBuffer.allocate(1 << 16);
            long[] came = new long[1];
            await("all of it has come", () -> {
                try {
                    came[0] += peer.read(into.clear());
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
                return came[0] > bytes;
            });
        }
    }

    /// Takes all that is there and on its way.
    private static void readAll(SocketChannel peer) {
        ByteBuffer into = ByteBuffer.allocate(1 << 16);
        long came = System.nanoTime();
        try {
            while (System.nanoTime() - came < 20_000_000) {
                int count = peer.read(into.clear());
                assertThat(count).isNotNegative();
                came = count > 0 ? System.nanoTime() : came;
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static ByteBuffer readyToReceive() {
        ByteBuffer bytes = ByteBuffer.allocate(20);
        SegmentHeader header = new SegmentHeader();
        header.setTagged(0, true, 1, 0, 0);
        header.encode(bytes, 0);
        return bytes;
    }
}
