package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/// Ports on siw if every second port of the kernel's range is used by a socket: the kernel's connection manager does
/// not check for that.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs siw0: lab/suite lab")
class TakenPortsTest {
    private static final String ADDRESS = "10.8.0.1";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String RANGE = "/proc/sys/net/ipv4/ip_local_port_range";
    private static final int FIRST_PORT = 50_000;
    private static final int PORTS = 200;
    private static final int ROUNDS = 15;

    private final List<ServerSocket> sockets = new ArrayList<>();
    private String rangeBefore;
    private LocalEnd server;
    private LocalEnd client;

    @BeforeEach
    void leaveFewPorts() throws IOException {
        rangeBefore = Shell.text("cat " + RANGE).strip();
        choosePortsFrom(FIRST_PORT + " " + (FIRST_PORT + PORTS - 1));
        for (int port = FIRST_PORT; port < FIRST_PORT + PORTS; port += 2) {
            sockets.add(new ServerSocket(port, 1, InetAddress.getByName(ADDRESS)));
        }
        server = LocalEnd.open("siw0");
        client = LocalEnd.open("siw0");
    }

    @AfterEach
    void close() throws IOException {
        choosePortsFrom(rangeBefore);
        try (LocalEnd _ = server;
                LocalEnd _ = client) {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
    }

    private static void choosePortsFrom(String range) {
        Shell.run("echo " + range + " >" + RANGE);
    }

    @Test
    void listenersAndCallersGetFreePorts() throws Exception {
        try (ConnectionManager servers = ConnectionManager.open(server.context());
                ConnectionManager clients = ConnectionManager.open(client.context())) {
            for (int round = 0; round < ROUNDS; round++) {
                try (Listener<ConnectionRequest> listener = servers.listen(new InetSocketAddress(ADDRESS, 0), 1)) {
                    connectTo(listener, clients);
                }
            }
        }
    }

    private void connectTo(Listener<ConnectionRequest> listener, ConnectionManager clients) throws Exception {
        CompletableFuture<Connection> connecting = CompletableFuture.supplyAsync(() -> connect(clients, listener));
        try (ConnectionRequest request = listener.awaitRequest(TIMEOUT)) {
            assertThat(request).as("a request").isNotNull();
            try (Connection accepted = request.accept(queuePair(server), ConnectionParameters.defaults(), TIMEOUT);
                    Connection connected = connecting.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(accepted.remoteAddress()).isEqualTo(connected.localAddress());
                for (InetSocketAddress end : List.of(accepted.localAddress(), connected.localAddress())) {
                    assertThat(end.getPort())
                            .isBetween(FIRST_PORT, FIRST_PORT + PORTS - 1)
                            .isOdd();
                }
            }
        }
    }

    private Connection connect(ConnectionManager clients, Listener<ConnectionRequest> listener) {
        return clients.connect(listener.localAddress(), queuePair(client), ConnectionParameters.defaults(), TIMEOUT);
    }

    private static QueuePair queuePair(LocalEnd end) {
        return end.queue(Spec.usual()).queuePair();
    }
}
