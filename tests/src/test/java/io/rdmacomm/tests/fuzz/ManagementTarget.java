package io.rdmacomm.tests.fuzz;

import io.rdmacomm.soft.roce.cm.CommunicationManager;
import io.rdmacomm.soft.roce.cm.Conversation;
import io.rdmacomm.soft.roce.cm.Inquiry;
import io.rdmacomm.soft.roce.cm.ListeningPort;
import io.rdmacomm.soft.roce.cm.ServiceInquiry;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.ManagementDatagram;
import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ProgramAddress;
import io.rdmacomm.soft.roce.mad.ReadDepths;
import io.rdmacomm.soft.roce.mad.ServiceRequest;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Management datagrams of a peer, one behind the other, for a connection manager over RoCE that has a listener of each
/// kind, has asked for a connection, and has asked for a datagram service.
///
/// Numbers of conversations are random: where a datagram has [#ASKED] or [#INQUIRED], it is meant for that one.
public final class ManagementTarget {
    private static final InetAddress HERE = InetAddress.ofLiteral("10.9.0.1");
    private static final InetAddress THERE = InetAddress.ofLiteral("10.9.0.2");
    private static final int PORT = 7174;
    private static final int BACKLOG = 2;
    private static final int ASKED = 0x01010101;
    private static final int INQUIRED = 0x02020202;
    private static final int ID = 24;
    private static final int PEER_ID = 28;

    private final CommunicationManager manager =
            new CommunicationManager(Gid.of(HERE), PathMtu.MTU_1024, ManagementTarget::sent, () -> {});
    private final @Nullable ListeningPort<Conversation> port = manager.listen(PORT, BACKLOG);
    private final @Nullable ListeningPort<ServiceInquiry> datagramPort = manager.listenForDatagrams(PORT, BACKLOG);
    private final Conversation asked = manager.connect(THERE, ManagementTarget::request);
    private int inquiryId;
    private final Inquiry inquiry = manager.inquire(THERE, this::question);

    private ManagementTarget() {}

    /// Some datagrams; the last one is filled up with zeros.
    public static void fuzzerTestOneInput(byte[] input) throws InterruptedException {
        ManagementTarget target = new ManagementTarget();
        for (int at = 0; at < input.length; at += ManagementDatagram.BYTES) {
            target.take(ByteBuffer.wrap(Arrays.copyOfRange(input, at, at + ManagementDatagram.BYTES)));
        }
        target.end();
    }

    private static ConnectRequest request(int id) {
        return new ConnectRequest(
                id,
                PortSpace.CONNECTIONS.service(PORT),
                1,
                2,
                3,
                new ReadDepths(1, 1),
                /* reliable= */ true,
                1,
                7,
                7,
                14,
                0,
                Gid.of(HERE),
                Gid.of(THERE),
                new ProgramAddress(1, Gid.of(HERE), Gid.of(THERE)),
                new byte[0]);
    }

    private ServiceRequest question(int id) {
        inquiryId = id;
        return new ServiceRequest(id, PortSpace.DATAGRAMS.service(PORT), null, new byte[0]);
    }

    private static void sent(InetAddress to, ByteBuffer datagram) {
        Checks.that(to.equals(THERE), "an answer to somebody else");
        Checks.that(ManagementDatagram.decode(datagram) != null, "an answer that is not understood");
    }

    private void take(ByteBuffer bytes) {
        name(bytes, ID);
        name(bytes, PEER_ID);
        ManagementDatagram decoded = ManagementDatagram.decode(bytes);
        boolean meant = manager.arrived(THERE, bytes);
        Checks.that(decoded != null || !meant, "what is not understood is taken");
        Checks.that(bytes.position() == 0 && bytes.remaining() == bytes.capacity(), "the buffer was left different");
        if (decoded != null) {
            comesBack(decoded);
        }
    }

    private void name(ByteBuffer bytes, int at) {
        switch (bytes.getInt(at)) {
            case ASKED -> bytes.putInt(at, asked.id());
            case INQUIRED -> bytes.putInt(at, inquiryId);
            default -> {
                // A number that the peer has invented.
            }
        }
    }

    private static void comesBack(ManagementDatagram decoded) {
        ByteBuffer once = ByteBuffer.allocate(ManagementDatagram.BYTES);
        decoded.encode(once);
        ManagementDatagram again = ManagementDatagram.decode(once);
        Checks.that(again != null, "it is not understood again");
        Checks.that(again.transaction() == decoded.transaction(), "another transaction");
        Checks.that(again.message().getClass() == decoded.message().getClass(), "another message");
        ByteBuffer twice = ByteBuffer.allocate(ManagementDatagram.BYTES);
        again.encode(twice);
        Checks.that(twice.equals(once), "it does not come back");
    }

    /// Whatever has come, the program can go on.
    private void end() throws InterruptedException {
        Checks.that(port != null && datagramPort != null, "a port is taken");
        for (Conversation taken = port.await(0); taken != null; taken = port.await(0)) {
            taken.refuse(1, new byte[0]);
        }
        for (ServiceInquiry taken = datagramPort.await(0); taken != null; taken = datagramPort.await(0)) {
            taken.answer(0, 1, 2, new byte[0]);
        }
        asked.confirm(() -> {});
        asked.disconnect();
        inquiry.close();
        var _ = manager.onTime();
        Checks.that(port.end().isEmpty() && datagramPort.end().isEmpty(), "requests have come from nowhere");
    }
}
