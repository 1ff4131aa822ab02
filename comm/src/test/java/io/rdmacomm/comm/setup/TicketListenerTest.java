package io.rdmacomm.comm.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.SilentDevice;
import io.rdmacomm.comm.setup.ScriptedConnections.ScriptedListener;
import io.rdmacomm.comm.setup.ScriptedConnections.ScriptedRequest;
import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The errors of [TicketListener] and [ConnectionPorts]: nobody waits in vain, and strangers are refused.
class TicketListenerTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();

    private final ScriptedConnections connections = new ScriptedConnections();
    private final Context context = Device.of(new SilentDevice(connections)).open();
    private final ConnectionManager manager = ConnectionManager.open(context);
    private final ConnectionPorts listeners = new ConnectionPorts(() -> manager, HERE, 0, ConnectionOptions.defaults());

    @AfterEach
    void close() {
        listeners.close();
        context.close();
    }

    private ScriptedListener newest() {
        return connections.listeners.getLast();
    }

    private QueuePair queuePair() {
        return context.allocateProtectionDomain()
                .createQueuePair(
                        QueuePairOptions.reliable(context.createCompletionQueue(CompletionQueueOptions.ofCapacity(4))));
    }

    /// Waits on a thread of its own for a client to connect.
    private CompletableFuture<?> waiting(AcceptingConnector client) {
        QueuePair queuePair = queuePair();
        return CompletableFuture.runAsync(
                () -> client.connect(queuePair, queuePair.info(), ConnectionOptions.defaults(), () -> {}),
                Thread::startVirtualThread);
    }

    private static void endsWith(CompletableFuture<?> waiting, Reason reason, String words) {
        assertThatThrownBy(waiting::join)
                .cause()
                .isInstanceOfSatisfying(
                        SetupException.class, e -> assertThat(e.reason()).isEqualTo(reason))
                .hasMessageContaining(words);
    }

    @Test
    void aTakenPortIsNamed() {
        connections.refusal = Errno.EADDRINUSE;

        assertThatThrownBy(() ->
                        TicketListener.open(manager, new InetSocketAddress(HERE, 2020), ConnectionOptions.defaults()))
                .isInstanceOfSatisfying(
                        SetupException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PORT_TAKEN))
                .hasMessageContaining("cannot listen on port 2020: it is taken");
    }

    /// Two iWARP devices cannot both listen at 127.0.0.1.
    @Test
    void anAddressThatTheDeviceCannotHaveIsNamed() {
        connections.refusal = Errno.EADDRINUSE;

        assertThatThrownBy(() -> listeners.at(HERE))
                .isInstanceOf(SetupException.class)
                .hasMessageContaining("cannot listen at " + HERE.getHostAddress())
                .hasMessageContaining("connect to an address of the device's network interface");
    }

    @Test
    void otherErrorsKeepTheirErrno() {
        connections.refusal = Errno.ENODEV;

        assertThatThrownBy(() -> listeners.at(HERE))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }

    @ParameterizedTest
    @ValueSource(strings = {"device", "library", "memory"})
    void aListenerThatFailsWakesItsClientsAndIsReplaced(String part) {
        TicketListener first = listeners.at(HERE);
        AcceptingConnector client = first.expect(TIMEOUT);
        CompletableFuture<?> waiting = waiting(client);

        newest().fail(
                        switch (part) {
                            case "device" ->
                                new VerbException("get event (rdma_get_cm_event)", Errno.ENODEV, "it is gone");
                            case "library" -> new UnsupportedOperationException("it is gone");
                            default -> new OutOfMemoryError("it is gone");
                        });

        endsWith(waiting, Reason.OTHER, "it is gone");
        assertThat(first.isOpen()).isFalse();
        endsWith(waiting(first.expect(TIMEOUT)), Reason.OTHER, "it is gone");
        assertThat(listeners.at(HERE)).isNotSameAs(first);
        assertThat(connections.listeners).hasSize(2);
    }

    @Test
    void closingWakesClients() {
        CompletableFuture<?> waiting = waiting(listeners.at(HERE).expect(TIMEOUT));

        listeners.close();

        endsWith(waiting, Reason.CLOSED, "is closed");
        assertThatThrownBy(() -> listeners.at(HERE)).hasMessage("the server is closed");
    }

    @Test
    void strangersAreRejectedAndDelayNobody() {
        TicketListener listener = listeners.at(HERE);
        AcceptingConnector client = listener.expect(TIMEOUT);
        CompletableFuture<?> waiting = waiting(client);

        ScriptedRequest empty = newest().hear();
        ScriptedRequest brief = newest().hear((byte) 1, (byte) 2);
        ScriptedRequest unknown = newest().hear(ticket(client.token() + 1, 0));
        ScriptedRequest otherChannel = newest().hear(ticket(client.token(), 7));
        newest().hear(ticket(client.token(), 0));

        assertThatThrownBy(waiting::join).hasCauseInstanceOf(UnsupportedOperationException.class);
        assertThat(new ScriptedRequest[] {empty, brief, unknown, otherChannel}).allMatch(ScriptedRequest::isRejected);
    }

    /// More requests than a client has channels on their way.
    @Test
    void requestsThatAreOneTooManyAreRejected() {
        AcceptingConnector client = listeners.at(HERE).expect(TIMEOUT);
        ScriptedRequest first = newest().hear(ticket(client.token(), 5));
        ScriptedRequest second = newest().hear(ticket(client.token(), 5));
        ScriptedRequest third = newest().hear(ticket(client.token(), 5));

        while (!third.isRejected()) {
            Thread.onSpinWait();
        }
        assertThat(first.isRejected() || second.isRejected()).isFalse();
        client.close();
        assertThat(first.isRejected() && second.isRejected()).isTrue();
    }

    private static byte[] ticket(long token, int channel) {
        return ByteBuffer.allocate(10).putLong(token).putShort((short) channel).array();
    }
}
