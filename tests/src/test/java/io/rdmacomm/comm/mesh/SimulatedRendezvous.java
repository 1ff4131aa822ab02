package io.rdmacomm.comm.mesh;

import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.Protocol;
import io.rdmacomm.comm.setup.Reception;
import io.rdmacomm.comm.setup.TcpConnector;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.stream.IntStream;

/// The rendezvous of the library, without TCP: frames go to and come from a simulated network.
public final class SimulatedRendezvous {
    /// The longest frame that the handshake allows.
    public static final int LONGEST_FRAME = TcpConnector.MAX_PAYLOAD;
    /// The most connections from which nothing has come yet.
    public static final int MOST_UNKNOWN = Reception.MOST_NEWCOMERS;

    private static final int FRAME_HEADER = 12;
    private static final Greeting GREETING = new Greeting(Protocol.MESH, 1, 1, 0);

    private final int size;
    private final Attendance attendance;
    private final Registration own;
    private final Answers answers;

    /// The frames that the rendezvous sends to a node.
    public interface Answers {
        /// Where all others are, in a frame of so many bytes.
        void table(int rank, int bytes);

        /// All are connected with each other.
        void allReady(int rank);
    }

    public SimulatedRendezvous(int size, Answers answers) {
        this.size = size;
        this.attendance = new Attendance(size);
        this.own = registration(0);
        this.answers = answers;
    }

    private Registration registration(int rank) {
        return new Registration(size, rank, 2000 + rank % 1000, 2, Duration.ofMinutes(2), "simulation");
    }

    /// The length of the frame with which a node registers.
    public int registerBytes() {
        return FRAME_HEADER + own.encode().remaining();
    }

    /// The frame of a node has come.
    ///
    /// @throws IllegalStateException if it is turned away
    public void register(int rank) {
        Registration node = Registration.decode(registration(rank).encode());
        String refusal = node.difference(own);
        if (refusal.isEmpty()) {
            refusal = attendance.add(node.rank(), new Guest(rank), GREETING, entry(rank));
        }
        if (!refusal.isEmpty()) {
            throw new IllegalStateException(refusal);
        }
    }

    private static NodeTable.Entry entry(int rank) {
        try {
            byte[] address = {10, 0, (byte) (rank >> 8), (byte) rank};
            return new NodeTable.Entry(InetAddress.getByAddress(address), 2000 + rank % 1000);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /// A node says that it is connected with all others.
    public void ready(int rank) {
        attendance.ready(rank);
    }

    /// The ranks that a node connects to, in turn.
    public IntStream targets(int rank) {
        return new ConnectionOrder(rank, size).targets();
    }

    /// Whether a node lets another one connect.
    public boolean accepts(int rank, int from) {
        return new ConnectionOrder(rank, size).accepts(from);
    }

    private final class Guest implements Visitor {
        private final int rank;

        Guest(int rank) {
            this.rank = rank;
        }

        @Override
        public void send(FrameType type, ByteBuffer payload) {
            if (type == FrameType.TABLE) {
                answers.table(rank, FRAME_HEADER + payload.remaining());
            } else {
                answers.allReady(rank);
            }
        }

        @Override
        public void refuse(String why) {
            throw new IllegalStateException("rank " + rank + " is refused: " + why);
        }
    }
}
