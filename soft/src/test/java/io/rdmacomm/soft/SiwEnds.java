package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.cm.Wire;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// A software device, a peer that sends what Linux siw sends, byte for byte, and the connection between the
/// two, whichever of them calls. The software device has posted receive 1 for the first message.
final class SiwEnds implements AutoCloseable {
    static final byte[] HELLO = {'h', 'e', 'l', 'l', 'o', 0};

    private static final Duration LONG = AddressEnd.LONG;
    private static final ConnectionParameters ONE =
            ConnectionParameters.defaults().withDepths(1, 1);

    AddressEnd own = new AddressEnd();
    /// Of the last call.
    FakePeer peer;
    /// Our side of it.
    Connection connection;

    /// Our end is on a device with these settings from now on.
    void reopen(String settings) {
        own.close();
        own = new AddressEnd(settings);
    }

    /// siw calls us: revision 2, never A, CRC or not, IRD and ORD 1.
    void calledBySiw(boolean checksums) throws Exception {
        called((checksums ? "50" : "10") + "02 0004 0001 0001", (checksums ? "50" : "10") + "02 0004 0001 0001");
        if (checksums) {
            peer.withChecksums();
        }
    }

    void called(String request, String expectedReply) throws Exception {
        Listener<ConnectionRequest> listener =
                own.manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4);
        peer = new FakePeer(Wire.to(listener.localAddress()));
        peer.wire.sendByteByByte(Wire.REQUEST + Wire.plain(request));
        ConnectionRequest arrived = listener.awaitRequest(LONG);
        assertThat(arrived).isNotNull();
        arrived.prepare(own.pair);
        own.receive(1, AddressEnd.HALF);
        connection = arrived.accept(own.pair, ONE, LONG);
        assertThat(peer.wire.readFrame()).isEqualTo(Wire.plain(Wire.REPLY + expectedReply));
    }

    /// We call siw, which overwrites the key of our request with that of a reply.
    void callingSiw(String behindTheReply) throws Exception {
        calling("5402 0004 8001 c001", "5402 0004 0001 0001" + behindTheReply);
    }

    void calling(String expectedRequest, String reply) throws Exception {
        calling("soft0=127.0.0.1?checksum=true", expectedRequest, reply);
    }

    void calling(String settings, String expectedRequest, String reply) throws Exception {
        reopen(settings);
        try (ServerSocket server = Wire.listen()) {
            CompletableFuture<Connection> connecting = AddressEnd.async(() -> {
                try (var route = own.manager.resolve(Wire.addressOf(server), LONG)) {
                    route.prepare(own.pair);
                    own.receive(1, AddressEnd.HALF);
                    return route.connect(own.pair, ONE, LONG);
                }
            });
            peer = new FakePeer(new Wire(server.accept())).withChecksums();
            assertThat(peer.wire.readFrame()).isEqualTo(Wire.plain(Wire.REQUEST + expectedRequest));
            peer.send(Wire.REPLY + reply);
            connection = connecting.get(20, TimeUnit.SECONDS);
        }
    }

    /// Posts a Send of our first bytes, as request 7.
    void send(int bytes) {
        own.post(own.batch().send(7).with(own.region, 0, bytes).signaled());
    }

    /// The next that the peer gets is this Send.
    void assertMessage(int number, String text) throws IOException {
        byte[] payload = peer.readFrame();
        assertThat(peer.header.opcode).isEqualTo(Opcode.SEND);
        assertThat(peer.header.messageNumber).isEqualTo(number);
        assertThat(new String(payload, 0, text.length(), StandardCharsets.UTF_8))
                .isEqualTo(text);
    }

    @Override
    public void close() throws IOException {
        if (peer != null) {
            peer.close();
        }
        own.close();
    }
}
