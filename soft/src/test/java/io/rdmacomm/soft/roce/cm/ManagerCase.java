package io.rdmacomm.soft.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.mad.ConnectReply;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.ConnectionMessage;
import io.rdmacomm.soft.roce.mad.ManagementDatagram;
import io.rdmacomm.soft.roce.mad.MessageKind;
import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ProgramAddress;
import io.rdmacomm.soft.roce.mad.ReadDepths;
import io.rdmacomm.soft.roce.mad.Receipt;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// A manager without a network: a test says what arrives and how time passes, and sees what is sent.
abstract class ManagerCase {
    static final InetAddress HERE = InetAddress.ofLiteral("10.9.0.1");
    static final InetAddress THERE = InetAddress.ofLiteral("10.9.0.2");
    static final InetAddress STRANGER = InetAddress.ofLiteral("10.9.0.3");
    static final int PORT = 7174;
    static final int THEIR_ID = 0x5a5a0001;
    static final int THEIR_NUMBER = 0x2345;
    static final int OWN_NUMBER = 0x12;
    static final long GUID = 0x0200_0000_5a00_0101L;
    static final long TRANSACTION = 0x1122_3344_5566_7788L;
    static final int REPEAT_MILLIS = 300;
    static final int REPEATS = 15;
    static final int TIMEOUT = 24;
    static final long LONG_SECONDS = 20;

    private record Sent(InetAddress to, long transaction, ConnectionMessage message) {}

    private final Queue<Sent> sent = new ArrayDeque<>();
    private final ByteBuffer datagram = ByteBuffer.allocate(ManagementDatagram.BYTES);
    long now = Long.MAX_VALUE - 1;
    int wakeups;
    long lastTransaction;
    final CommunicationManager manager =
            new CommunicationManager(Gid.of(HERE), PathMtu.MTU_1024, this::sent, () -> wakeups++, () -> now);

    private void sent(InetAddress to, ByteBuffer bytes) {
        ManagementDatagram decoded = ManagementDatagram.decode(bytes);
        assertThat(decoded).isNotNull();
        sent.add(new Sent(to, decoded.transaction(), decoded.message()));
    }

    // ---- The network ----

    boolean arrives(InetAddress from, ConnectionMessage message) {
        new ManagementDatagram(TRANSACTION, message).encode(datagram);
        return manager.arrived(from, datagram);
    }

    boolean arrives(ConnectionMessage message) {
        return arrives(THERE, message);
    }

    /// The next message that was sent to the peer.
    <M extends ConnectionMessage> M sends(Class<M> kind) {
        return sends(THERE, kind);
    }

    <M extends ConnectionMessage> M sends(InetAddress to, Class<M> kind) {
        Sent next = sent.poll();
        assertThat(next).as("a message").isNotNull();
        assertThat(next.message).isInstanceOf(kind);
        assertThat(next.to).isEqualTo(to);
        lastTransaction = next.transaction;
        return kind.cast(next.message);
    }

    void sendsNothing() {
        assertThat(sent).isEmpty();
    }

    // ---- Time ----

    /// Lets time pass.
    ///
    /// @return milliseconds until the next call is due, rounded up; [Long#MAX_VALUE] for never
    long pass(long millis) {
        now += TimeUnit.MILLISECONDS.toNanos(millis);
        long wait = manager.onTime();
        return wait == Long.MAX_VALUE ? wait : TimeUnit.NANOSECONDS.toMillis(wait + 999_999);
    }

    void assertNothingIsDue() {
        assertThat(manager.onTime()).isEqualTo(Long.MAX_VALUE);
    }

    /// A message is sent again every 300 ms, as often as is allowed, and then no more.
    void assertRepeated(Class<? extends ConnectionMessage> kind) {
        for (int i = 0; i < REPEATS; i++) {
            assertThat(pass(REPEAT_MILLIS - 1)).isOne();
            sendsNothing();
            assertThat(pass(1)).isEqualTo(REPEAT_MILLIS);
            sends(kind);
        }
        pass(REPEAT_MILLIS - 1);
        sendsNothing();
        assertThat(pass(1)).isEqualTo(Long.MAX_VALUE);
    }

    // ---- Messages of the peer ----

    static ConnectRequest request(int id, long service, int queuePair, boolean reliable, int mtu, InetAddress from) {
        Gid source = Gid.of(from);
        Gid destination = Gid.of(HERE);
        ProgramAddress addresses = new ProgramAddress(40001, source, destination);
        return new ConnectRequest(
                id,
                service,
                GUID,
                queuePair,
                5,
                new ReadDepths(4, 4),
                reliable,
                mtu,
                7,
                7,
                14,
                0,
                source,
                destination,
                addresses,
                new byte[] {1});
    }

    static ConnectRequest request(int id) {
        return request(id, PortSpace.CONNECTIONS.service(PORT), THEIR_NUMBER, true, 3, THERE);
    }

    static ConnectReply reply(int id, int peerId, int queuePair) {
        return new ConnectReply(id, peerId, queuePair, 9, new ReadDepths(4, 4), 7, GUID, new byte[] {2});
    }

    static Receipt receipt(int peerId, MessageKind kind) {
        return new Receipt(THEIR_ID, peerId, kind, TIMEOUT);
    }

    // ---- This side ----

    Conversation connect() {
        Conversation asked = manager.connect(
                THERE,
                id -> new ConnectRequest(
                        id,
                        PortSpace.CONNECTIONS.service(PORT),
                        GUID,
                        OWN_NUMBER,
                        5,
                        new ReadDepths(4, 4),
                        true,
                        3,
                        7,
                        7,
                        14,
                        0,
                        Gid.of(HERE),
                        Gid.of(THERE),
                        new ProgramAddress(40001, Gid.of(HERE), Gid.of(THERE)),
                        new byte[] {1}));
        assertThat(sends(ConnectRequest.class).id()).isEqualTo(asked.id());
        return asked;
    }

    ListeningPort<Conversation> listen(int backlog) {
        ListeningPort<Conversation> port = manager.listen(PORT, backlog);
        assertThat(port).isNotNull();
        return port;
    }

    static Conversation take(ListeningPort<Conversation> port) throws InterruptedException {
        Conversation taken = port.await(0);
        assertThat(taken).as("a request").isNotNull();
        return taken;
    }

    static Conversation.State state(Conversation conversation) throws InterruptedException {
        return conversation.awaitChange(Conversation.State.ENDED, 0);
    }

    // ---- Threads ----

    /// Runs something that waits, and ends when it waits.
    static <R> CompletableFuture<R> waiting(Waiting<R> call) {
        CompletableFuture<R> result = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(call.run());
            } catch (InterruptedException | RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONG_SECONDS);
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            assertThat(System.nanoTime() - end).as("it waits").isNegative();
            Thread.onSpinWait();
        }
        return result;
    }

    interface Waiting<R> {
        R run() throws InterruptedException;
    }

    /// With zeros behind.
    static byte[] padded(int length, int... bytes) {
        byte[] padded = new byte[length];
        for (int i = 0; i < bytes.length; i++) {
            padded[i] = (byte) bytes[i];
        }
        return Arrays.copyOf(padded, length);
    }
}
