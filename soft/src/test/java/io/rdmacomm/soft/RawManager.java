package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.mad.ConnectionMessage;
import io.rdmacomm.soft.roce.mad.ManagementDatagram;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The connection manager of a host that sends whatever messages a test wants, and shows those that come.
record RawManager(RawRoce host) {
    private static final int MANAGER = 1;
    private static final int KEY = 0x8001_0000;

    /// What a message is sent in.
    static Packet packet() {
        Packet packet = new Packet();
        packet.opcode = PacketOpcode.DATAGRAM | PacketOpcode.SEND_ONLY;
        packet.destination = MANAGER;
        packet.source = MANAGER;
        packet.queueKey = KEY;
        return packet;
    }

    static byte[] bytes(ConnectionMessage message) {
        ByteBuffer bytes = ByteBuffer.allocate(ManagementDatagram.BYTES);
        new ManagementDatagram(7, message).encode(bytes);
        return bytes.array();
    }

    void send(ConnectionMessage message) throws IOException {
        host.send(packet(), bytes(message), 0);
    }

    /// The next message that comes within that time, or null.
    @Nullable
    ConnectionMessage receive(long millis) throws IOException {
        Packet packet = host.receive(millis);
        if (packet == null) {
            return null;
        }
        assertThat(packet.destination).isEqualTo(MANAGER);
        assertThat(packet.queueKey).isEqualTo(KEY);
        ManagementDatagram decoded = ManagementDatagram.decode(host.payload(packet));
        assertThat(decoded).isNotNull();
        return decoded.message();
    }

    /// The next message of this kind; others are left out, as they may be repeated.
    <M extends ConnectionMessage> M await(Class<M> kind) throws IOException {
        while (true) {
            ConnectionMessage message = receive(RoceCase.LONG_MILLIS);
            assertThat(message).as("a " + kind.getSimpleName()).isNotNull();
            if (kind.isInstance(message)) {
                return kind.cast(message);
            }
        }
    }
}
