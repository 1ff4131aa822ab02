package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Datagram;
import io.rdmacomm.tests.fixture.DeviceAddress;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LeftOut;
import io.rdmacomm.tests.fixture.LocalDatagrams;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.DatagramRequest;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.MulticastMembership;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/// Datagram queue pairs that are found by address, and multicast groups that are joined. A device that has neither
/// must say so.
@ParameterizedClass(name = "{0}")
@MethodSource("io.rdmacomm.tests.fixture.Fabric#providers")
@ExtendWith(LeakCheck.class)
class DatagramServicesTest {
    private static final Duration LONG = Duration.ofMillis(EndQueue.TIMEOUT_MILLIS);
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final byte[] NONE = new byte[0];
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.1.2.77");

    @Parameter
    Fabric fabric;

    private LocalEnd server;
    private LocalEnd client;
    private ConnectionManager serving;
    private ConnectionManager asking;
    private InetAddress address;

    @BeforeEach
    void open() {
        server = LocalEnd.open(fabric.device());
        client = LocalEnd.open(fabric.device());
        if (lacks(Capability.CONNECTION_MANAGER)) {
            assertThatThrownBy(() -> ConnectionManager.open(server.context()))
                    .isInstanceOf(UnsupportedVerbException.class);
            throw LeftOut.because(getClass(), fabric.device() + " has no connection manager, and says so");
        }
        serving = ConnectionManager.open(server.context());
        asking = ConnectionManager.open(client.context());
        address = DeviceAddress.of(server.context());
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private boolean lacks(Capability capability) {
        return !server.context().supports(capability);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private InetSocketAddress anyPort() {
        return new InetSocketAddress(address, 0);
    }

    /// Answers one request with a queue pair.
    private FutureTask<Void> answer(Listener<DatagramRequest> listener, LocalDatagrams service) {
        return start(listener, request -> {
            assertThat(Arrays.copyOf(request.privateData(), 5)).isEqualTo(bytes("hello"));
            assertThat(request.remoteAddress().getAddress()).isEqualTo(address);
            request.accept(service.queuePair(), bytes("welcome"));
        });
    }

    private interface Answer {
        void to(DatagramRequest request);
    }

    private static FutureTask<Void> start(Listener<DatagramRequest> listener, Answer answer) {
        FutureTask<Void> task = new FutureTask<>(() -> {
            try (DatagramRequest request = listener.awaitRequest(LONG)) {
                answer.to(request);
            }
            return null;
        });
        Thread.ofVirtual().start(task);
        return task;
    }

    @Test
    void datagramsGoToTheQueuePairThatIsFoundAndBack() throws Exception {
        if (lacks(Capability.DATAGRAM_SERVICES)) {
            assertThatThrownBy(() -> serving.listenForDatagrams(anyPort()))
                    .isInstanceOf(UnsupportedVerbException.class);
            assertThatThrownBy(() -> asking.lookUp(new InetSocketAddress(address, 7174), NONE, LONG))
                    .isInstanceOf(UnsupportedVerbException.class);
            return;
        }
        try (LocalDatagrams there = server.datagrams(DatagramTarget.QUEUE_KEY);
                LocalDatagrams here = client.datagrams(DatagramTarget.QUEUE_KEY);
                Listener<DatagramRequest> listener = serving.listenForDatagrams(anyPort())) {
            there.receive(7);
            FutureTask<Void> answering = answer(listener, there);

            DatagramService service = asking.lookUp(listener.localAddress(), bytes("hello"), LONG);

            answering.get(EndQueue.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
            assertThat(Arrays.copyOf(service.privateData(), 7)).isEqualTo(bytes("welcome"));
            assertThat(service.target().queuePairNumber()).isEqualTo(there.number());
            assertThat(service.target().queueKey()).isEqualTo(DatagramTarget.QUEUE_KEY);
            here.sendTo(service.target(), 1, bytes("datagram"), null);
            assertThat(here.one().outcome().status()).isEqualTo(WorkStatus.SUCCESS);
            assertThat(there.one().payload()).isEqualTo(bytes("datagram"));

            here.receive(3);
            there.answer(7, DatagramTarget.QUEUE_KEY, 2, bytes("answer"));
            assertThat(here.one().payload()).isEqualTo(bytes("answer"));
        }
    }

    @Test
    void manyProgramsFindOneQueuePair() throws Exception {
        if (lacks(Capability.DATAGRAM_SERVICES)) {
            return;
        }
        int programs = 20;
        try (LocalDatagrams there = server.datagrams(DatagramTarget.QUEUE_KEY);
                Listener<DatagramRequest> listener = serving.listenForDatagrams(anyPort(), programs)) {
            for (int i = 0; i < programs; i++) {
                FutureTask<Void> answering = answer(listener, there);
                DatagramService service = asking.lookUp(listener.localAddress(), bytes("hello"), LONG);
                assertThat(service.target().queuePairNumber()).isEqualTo(there.number());
                answering.get(EndQueue.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
            }
        }
    }

    @Test
    void aPortWhereNobodyListensAndAProgramThatDeclinesAreReported() throws Exception {
        if (lacks(Capability.DATAGRAM_SERVICES)) {
            return;
        }
        InetSocketAddress nobody;
        try (Listener<DatagramRequest> listener = serving.listenForDatagrams(anyPort())) {
            nobody = listener.localAddress();
            FutureTask<Void> declining = start(listener, request -> request.reject(bytes("full")));
            assertThatThrownBy(() -> asking.lookUp(listener.localAddress(), NONE, LONG))
                    .isInstanceOfSatisfying(
                            ConnectionRejectedException.class,
                            e -> assertThat(Arrays.copyOf(e.privateData(), 4)).isEqualTo(bytes("full")))
                    .hasMessageContaining("its program declined it");
            declining.get(EndQueue.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        }
        assertThatThrownBy(() -> asking.lookUp(nobody, NONE, LONG))
                .isInstanceOf(ConnectionRejectedException.class)
                .hasMessageContaining("no program listens for datagram requests there");
    }

    @Test
    void aRequestThatNobodyAnswersTimesOut() throws Exception {
        if (lacks(Capability.DATAGRAM_SERVICES)) {
            return;
        }
        try (Listener<DatagramRequest> listener = serving.listenForDatagrams(anyPort())) {
            assertThatThrownBy(() -> asking.lookUp(listener.localAddress(), NONE, SHORT))
                    .isInstanceOf(DeadlineException.class);
            DatagramRequest late = listener.awaitRequest(LONG);
            assertThat(late).isNotNull();
            late.close();
        }
    }

    @Test
    void closingTheManagerEndsAllWaits() throws Exception {
        if (lacks(Capability.DATAGRAM_SERVICES)) {
            return;
        }
        Listener<DatagramRequest> listener = serving.listenForDatagrams(anyPort());
        FutureTask<DatagramRequest> waiting = new FutureTask<>(() -> listener.awaitRequest(LONG));
        Thread.ofVirtual().start(waiting);
        FutureTask<DatagramService> looking =
                new FutureTask<>(() -> asking.lookUp(listener.localAddress(), NONE, LONG));
        DatagramRequest request = waitFor(waiting, looking);
        asking.close();
        assertThatThrownBy(() -> looking.get(EndQueue.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS))
                .hasRootCauseInstanceOf(IllegalStateException.class);
        serving.close();
        assertThat(request.isOpen()).isFalse();
        assertThatThrownBy(() -> listener.awaitRequest(LONG)).isInstanceOf(IllegalStateException.class);
    }

    private static DatagramRequest waitFor(FutureTask<DatagramRequest> waiting, FutureTask<DatagramService> looking)
            throws Exception {
        Thread.ofVirtual().start(looking);
        return waiting.get(EndQueue.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Test
    void membersOfAGroupGetItsDatagramsWithoutASocketOfTheSystem() throws Exception {
        if (lacks(Capability.MULTICAST)) {
            assertThatThrownBy(() -> serving.joinMulticast(address, GROUP, LONG))
                    .isInstanceOf(UnsupportedVerbException.class);
            return;
        }
        try (LocalDatagrams there = server.datagrams(DatagramTarget.QUEUE_KEY);
                LocalDatagrams here = client.datagrams(DatagramTarget.QUEUE_KEY);
                MulticastMembership joined = serving.joinMulticast(address, GROUP, LONG);
                MulticastMembership sender = asking.joinMulticast(address, GROUP, LONG)) {
            assertThat(joined.group().address()).isEqualTo(GROUP);
            there.attach(joined.group());
            there.receive(7);

            here.sendTo(sender.target(), 1, bytes("to all"), null);

            assertThat(here.one().outcome().status()).isEqualTo(WorkStatus.SUCCESS);
            Datagram datagram = there.one();
            assertThat(datagram.payload()).isEqualTo(bytes("to all"));
            assertThat(datagram.source()).isEqualTo(here.number());
            List<Datagram> none = here.collect(1, SHORT.toMillis());
            assertThat(none).as("the sender is not attached").isEmpty();
        }
    }
}
