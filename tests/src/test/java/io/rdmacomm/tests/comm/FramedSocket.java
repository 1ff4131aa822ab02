package io.rdmacomm.tests.comm;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.rdmacomm.comm.data.ChannelInfo;
import io.rdmacomm.comm.setup.EndPointInfo;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.SetupOffer;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/// A peer that sends any frame of the handshake.
final class FramedSocket implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 20_000;
    private static final int SESSION = 1;

    private final Socket socket;

    /// Frames on a connection. Nothing is sent yet.
    FramedSocket(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(TIMEOUT_MILLIS);
    }

    /// A client of a server of this host, which has said that it speaks version 1.
    FramedSocket(int port) throws IOException {
        this(new Socket(InetAddress.getLoopbackAddress(), port));
        send(FrameType.GREETING, greeting());
    }

    /// The greeting of a side that speaks version 1 and has no features.
    private static ByteBuffer greeting() {
        return greeting(1, 1, 0);
    }

    /// The greeting of any side.
    static ByteBuffer greeting(int lowest, int highest, long features) {
        return ByteBuffer.allocate(16)
                .putShort((short) SESSION)
                .putShort((short) lowest)
                .putShort((short) highest)
                .putShort((short) 0)
                .putLong(features)
                .flip();
    }

    /// A frame that has arrived.
    record Frame(int type, ByteBuffer payload) {
        boolean is(FrameType expected) {
            return type == expected.code();
        }

        String digits() {
            byte[] bytes = new byte[payload.remaining()];
            payload.duplicate().get(bytes);
            return HexFormat.of().formatHex(bytes);
        }

        String text() {
            return UTF_8.decode(payload.duplicate()).toString();
        }
    }

    /// A frame as it is sent.
    static byte[] frame(FrameType type, ByteBuffer payload) {
        ByteBuffer frame = ByteBuffer.allocate(12 + payload.remaining());
        frame.put("RDMC".getBytes(UTF_8)).putShort((short) 0).putShort((short) type.code());
        return frame.putInt(payload.remaining()).put(payload).array();
    }

    /// A greeting and the frame behind it, of a client that does not wait for the answer.
    static byte[] opening(FrameType type, ByteBuffer payload) {
        byte[] first = frame(FrameType.GREETING, greeting());
        byte[] second = frame(type, payload);
        return ByteBuffer.allocate(first.length + second.length)
                .put(first)
                .put(second)
                .array();
    }

    /// A description of queue pairs that are at these ports of an address, connected by numbers.
    static ByteBuffer description(InetAddress address, int... ports) {
        List<ChannelInfo> channels = new ArrayList<>();
        for (int port : ports) {
            QueuePairInfo numbers = new QueuePairInfo(17, 4711, port, Gid.of(address), PathMtu.MTU_1024);
            channels.add(new ChannelInfo(numbers, 8, 4096, 1, 0, 0, 0));
        }
        SetupOffer byNumbers = new SetupOffer(true, false, 0, 0);
        return new EndPointInfo("a stranger", LinkLayer.ETHERNET, byNumbers, channels).encode();
    }

    void send(FrameType type, ByteBuffer payload) throws IOException {
        send(frame(type, payload));
    }

    void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /// The next frame that is no greeting.
    Frame next() throws IOException {
        Frame next = nextOfAny();
        return next.is(FrameType.GREETING) ? nextOfAny() : next;
    }

    /// Takes the greeting of a client, and answers as a server that speaks version 1.
    void answerGreeting() throws IOException {
        if (!nextOfAny().is(FrameType.GREETING)) {
            throw new IOException("the client does not greet");
        }
        send(FrameType.GREETING, greeting());
    }

    /// The next frame.
    Frame nextOfAny() throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.skipNBytes(6);
        int type = in.readUnsignedShort();
        return new Frame(type, ByteBuffer.wrap(in.readNBytes(in.readInt())));
    }

    /// Whether the peer has closed the connection, after everything that it had sent.
    boolean isAtEnd() throws IOException {
        return socket.getInputStream().read() < 0;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
