package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks that are common to all connection managers.
final class ConnectionManagerTest extends QueuePairFixture {
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();

    private ConnectionManager manager;

    @BeforeEach
    void openManager() {
        manager = ConnectionManager.open(context);
    }

    @Test
    void aDeviceWithoutConnectionManagerSaysWhy() {
        device.capabilities.remove(Capability.CONNECTION_MANAGER);
        assertThatThrownBy(() -> ConnectionManager.open(context))
                .isInstanceOf(UnsupportedVerbException.class)
                .hasMessageContaining("null0")
                .hasMessageContaining("CONNECTION_MANAGER");
    }

    @Test
    void anUnknownHostIsNamed() {
        InetSocketAddress nowhere = InetSocketAddress.createUnresolved("no.such.host", 1);
        assertThatThrownBy(() -> manager.listen(nowhere)).hasMessageContaining("no.such.host");
        assertThatThrownBy(() -> manager.resolve(nowhere, SHORT))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("no.such.host");
    }

    @Test
    void theBacklogHasADefault() {
        manager.listen(NullDrivers.ADDRESS);
        manager.listen(NullDrivers.ADDRESS, 7);
        assertThat(device.log).containsExactly("listen 128", "listen 7");
        assertThatThrownBy(() -> manager.listen(NullDrivers.ADDRESS, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("for the default, omit it");
    }

    @Test
    void aTypeOfServiceHasARange() {
        IdentifierOptions none = IdentifierOptions.none();
        assertThat(none.withTypeOfService(255).typeOfService()).hasValue(255);
        assertThatThrownBy(() -> none.withTypeOfService(256)).hasMessageContaining("must be 0 to 255, not 256");
        assertThatThrownBy(() -> none.withTypeOfService(-1)).hasMessageContaining("must be 0 to 255, not -1");
    }

    @Test
    void optionsThatTheDeviceLacksAreRejected() throws InterruptedException {
        device.capabilities.remove(Capability.CONNECTION_TYPE_OF_SERVICE);
        device.capabilities.remove(Capability.CONNECTION_ACK_TIMEOUT);
        IdentifierOptions options = IdentifierOptions.none().withTypeOfService(0);
        assertThatThrownBy(() -> manager.listen(NullDrivers.ADDRESS, 1, options))
                .isInstanceOf(UnsupportedVerbException.class)
                .hasMessageContainingAll("null0", "type of service");
        assertThatThrownBy(() -> manager.resolve(NullDrivers.ADDRESS, options, SHORT))
                .isInstanceOf(UnsupportedVerbException.class);
        assertThat(device.log).isEmpty();

        ConnectionParameters parameters = DEFAULTS.withAckTimeout(AckTimeout.INFINITE);
        QueuePair pair = create(options());
        try (Route route = manager.resolve(NullDrivers.ADDRESS, SHORT)) {
            assertThatThrownBy(() -> route.connect(pair, parameters, SHORT))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll("null0", "acknowledgement timeout");
            assertThat(route.connect(pair, DEFAULTS, SHORT).isConnected()).isTrue();
        }
        Listener<ConnectionRequest> listener = manager.listen(NullDrivers.ADDRESS, 1);
        device.request();
        try (ConnectionRequest request = listener.awaitRequest(SHORT)) {
            assertThatThrownBy(() -> request.accept(create(options()), parameters, SHORT))
                    .isInstanceOf(UnsupportedVerbException.class);
        }
    }

    @Test
    void connectPreparesTheQueuePair() throws InterruptedException {
        QueuePair pair = create(options());
        Connection connection = manager.connect(NullDrivers.ADDRESS, pair, DEFAULTS, SHORT);
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);
        assertThat(connection.queuePair()).isEqualTo(pair);
        assertThat(connection.isConnected()).isTrue();
        assertThat(device.log).containsExactly("resolve", "close route");
    }

    @Test
    void aPreparedQueuePairTakesReceivesAndConnects() throws InterruptedException {
        QueuePair pair = create(options());
        try (Route route = manager.resolve(NullDrivers.ADDRESS, SHORT)) {
            route.prepare(pair);
            assertThat(pair.post(receives(1))).isEqualTo(1);
            assertThatThrownBy(() -> route.prepare(pair))
                    .isInstanceOf(QueuePairStateException.class)
                    .hasMessageContaining("INIT");
            assertThat(route.connect(pair, DEFAULTS, SHORT).isConnected()).isTrue();
        }
    }

    @Test
    void aRouteIsGoodForOneConnection() throws InterruptedException {
        try (Route route = manager.resolve(NullDrivers.ADDRESS, SHORT)) {
            route.connect(create(options()), DEFAULTS, SHORT);
            QueuePair second = create(options());
            assertThatThrownBy(() -> route.connect(second, DEFAULTS, SHORT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("was already used");
        }
    }

    @Test
    void aConnectedQueuePairIsRejected() throws InterruptedException {
        QueuePair pair = connected(options());
        try (Route route = manager.resolve(NullDrivers.ADDRESS, SHORT)) {
            assertThatThrownBy(() -> route.connect(pair, DEFAULTS, SHORT))
                    .isInstanceOf(QueuePairStateException.class)
                    .hasMessageContaining("RESET or INIT");
        }
    }

    @Test
    void aQueuePairOfAnotherContextIsRejected() throws InterruptedException {
        try (Context other = Device.of(new NullDrivers()).open();
                Route route = manager.resolve(NullDrivers.ADDRESS, SHORT)) {
            CompletionQueue elsewhere = other.createCompletionQueue(CompletionQueueOptions.ofCapacity(10));
            QueuePair pair = other.allocateProtectionDomain()
                    .createQueuePair(QueuePairOptions.reliable(elsewhere).withSizes(new QueueSizes(1, 1, 1, 1, 0)));
            assertThatThrownBy(() -> route.connect(pair, DEFAULTS, SHORT))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContaining("another context");
        }
    }

    @Test
    void privateDataHasALimit() throws InterruptedException {
        QueuePair pair = create(options());
        try (Route route = manager.resolve(NullDrivers.ADDRESS, SHORT)) {
            assertThatThrownBy(() -> route.connect(pair, DEFAULTS.withPrivateData(new byte[5]), SHORT))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContaining("5 bytes of private data")
                    .hasMessageContaining("allows 4");
            assertThat(pair.state()).isEqualTo(QueuePairState.RESET);
            Connection connection = route.connect(pair, DEFAULTS.withPrivateData(new byte[] {1, 2, 3, 4}), SHORT);
            assertThat(connection.privateData()).containsExactly(1, 2, 3, 4);
        }
    }

    @Test
    void aRequestIsAnsweredOnce() throws InterruptedException {
        Listener<ConnectionRequest> listener = manager.listen(NullDrivers.ADDRESS, 1);
        assertThat(listener.awaitRequest(SHORT)).isNull();
        device.request();
        ConnectionRequest request = listener.awaitRequest(SHORT);
        assertThat(request).isNotNull();
        request.reject(new byte[] {1});
        QueuePair pair = create(options());
        assertThatThrownBy(() -> request.accept(pair, DEFAULTS, SHORT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("already answered");
        request.close();
        assertThat(device.log).containsExactly("listen 1", "reject with 1 bytes", "release request");
    }

    @Test
    void closingTheManagerEndsEverything() throws InterruptedException {
        Listener<ConnectionRequest> listener = manager.listen(NullDrivers.ADDRESS, 1);
        device.request();
        ConnectionRequest request = listener.awaitRequest(SHORT);
        Connection connection = manager.connect(NullDrivers.ADDRESS, create(options()), DEFAULTS, SHORT);
        device.log.clear();
        manager.close();
        assertThat(device.log)
                .containsExactly("close connection", "reject with 0 bytes", "release request", "close manager");
        assertThat(request).isNotNull();
        assertThat(request.isOpen()).isFalse();
        assertThat(connection.awaitDisconnect(SHORT)).isTrue();
        assertThatThrownBy(() -> listener.awaitRequest(SHORT)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void disconnectEndsTheConnection() throws InterruptedException {
        Connection connection = manager.connect(NullDrivers.ADDRESS, create(options()), DEFAULTS, SHORT);
        assertThat(connection.awaitDisconnect(Duration.ZERO)).isFalse();
        CompletableFuture<String> end = connection.onDisconnect();
        assertThat(end).isNotDone();
        connection.disconnect();
        assertThat(end).succeedsWithin(SHORT.plusSeconds(10)).isEqualTo("disconnected here");
        assertThat(connection.isConnected()).isFalse();
        assertThat(connection.disconnectReason()).isEqualTo("disconnected here");
        assertThat(connection.awaitDisconnect(Duration.ZERO)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"256,1,1,1", "1,-1,1,1", "1,1,8,1", "1,1,1,8"})
    void parametersHaveRanges(int responder, int initiator, int retries, int rnrRetries) {
        assertThatThrownBy(() -> DEFAULTS.withDepths(responder, initiator).withRetries(retries, rnrRetries))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void eventsHaveTheCodesOfTheHeader() {
        assertThat(ConnectionEvent.of(9)).isEqualTo(ConnectionEvent.ESTABLISHED);
        assertThat(ConnectionEvent.of(15)).isEqualTo(ConnectionEvent.TIMEWAIT_EXIT);
        assertThat(ConnectionEvent.of(16)).isEqualTo(ConnectionEvent.UNKNOWN);
        assertThat(ConnectionEvent.of(-1)).isEqualTo(ConnectionEvent.UNKNOWN);
        for (ConnectionEvent event : ConnectionEvent.values()) {
            assertThat(ConnectionEvent.of(event.code())).isEqualTo(event);
        }
    }
}
