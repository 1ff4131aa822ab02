package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.Psn;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// A queue pair of a device that speaks RoCE v2, connected to a host that sends whatever packets a test wants.
abstract class RoceCase {
    static final String HERE = "127.0.0.81";
    static final String THERE = "127.0.0.82";
    static final int THEIR_NUMBER = 0x123;
    static final int THEIR_PSN = 0xffffff;
    static final int MTU = 256;
    static final int BYTES = 32 * 1024;
    static final int TIMEOUT_MILLIS = 268;
    static final int RETRIES = 2;
    static final int LONG_MILLIS = 5_000;
    static final int SHORT_MILLIS = 50;

    private final QueuePairType type;
    final Arena arena = Arena.ofShared();
    ProtectionDomain domain;
    Context context;
    RawRoce peer;
    CompletionQueue queue;
    QueuePair pair;
    MemoryRegion region;
    int psn;

    RoceCase(QueuePairType type) {
        this.type = type;
    }

    /// Whether the device sends packets together, through the C library.
    boolean bursts() {
        return false;
    }

    /// Further options of the device.
    String options() {
        return "";
    }

    @BeforeEach
    void connect() throws IOException {
        try {
            peer = new RawRoce(THERE, HERE);
        } catch (BindException e) {
            throw LeftOut.because(getClass(), "UDP port 4791 is taken, most likely by rdma_rxe (rmmod rdma_rxe)");
        }
        context = Soft.open("roce1=" + HERE + "?transport=roce&bursts=" + bursts() + options());
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        region = domain.allocate(BYTES, AccessFlag.allRemote());
        pair = connected();
        psn = pair.info().packetSequenceNumber();
    }

    /// A queue pair that is connected to the peer.
    QueuePair connected() {
        QueuePair made = domain.createQueuePair(QueuePairOptions.reliable(queue).withType(type));
        made.connect(
                new QueuePairInfo(
                        THEIR_NUMBER, THEIR_PSN, 0, Gid.of(InetAddress.ofLiteral(THERE)), PathMtu.ofBytes(MTU)),
                ConnectionOptions.defaults().withTimeout(Duration.ofMillis(TIMEOUT_MILLIS), RETRIES));
        return made;
    }

    @AfterEach
    void close() throws IOException {
        arena.close();
        if (context != null) {
            peer.close();
            context.close();
        }
    }

    Packet packet(int opcode, int number) {
        Packet packet = new Packet();
        packet.opcode = opcode;
        packet.destination = pair.number();
        packet.psn = Psn.add(THEIR_PSN, number);
        packet.wantsAnswer = true;
        return packet;
    }

    Packet awaitPacket() throws IOException {
        Packet packet = peer.receive(LONG_MILLIS);
        assertThat(packet).as("a packet").isNotNull();
        return packet;
    }

    Completions poll() {
        Completions done = Completions.create(arena, 1);
        long end = System.nanoTime() + Duration.ofMillis(LONG_MILLIS).toNanos();
        while (queue.poll(done) == 0 && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
        assertThat(done.size()).isOne();
        return done;
    }

    void assertNothingCompletes() {
        assertThat(queue.poll(Completions.create(arena, 1))).isZero();
    }

    static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofMillis(LONG_MILLIS).toNanos();
        while (!condition.getAsBoolean() && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
        assertThat(condition.getAsBoolean()).as(what).isTrue();
    }

    long counter(String name) {
        return context.counters(1).get(name);
    }

    void receive(int id) {
        receive(id, MTU);
    }

    void receive(int id, int bytes) {
        pair.post(ReceiveBatch.create(arena, 1, 1).receive(id).with(region, 0, bytes));
    }

    void send(int bytes) {
        pair.post(SendBatch.create(arena, 1, 1).send(1).with(region, 0, bytes).signaled());
    }
}
