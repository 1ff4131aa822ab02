package io.rdmacomm.tests.comm;

import io.rdmacomm.comm.setup.FrameType;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// A TCP line to a program that turns what both sides say into what a later release could say: higher versions, more
/// features, bits in fields that are not used yet, longer elements of lists, and more behind the last known field of
/// each frame.
final class LaterRelease implements AutoCloseable {
    private static final byte[] MORE = {1, 2, 3, 4, 5};
    private static final int HIGHEST = 9;
    /// The first byte of a message of the rendezvous that is a table.
    private static final byte TABLE = 2;

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int port;
    private final List<Socket> open = new ArrayList<>();
    private final Set<Integer> seen = ConcurrentHashMap.newKeySet();
    private final Set<Integer> seenMessages = ConcurrentHashMap.newKeySet();

    /// A line to a port of this host, for any number of calls.
    LaterRelease(int port) throws IOException {
        this.port = port;
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /// Whether a frame of this type has passed.
    boolean hasSeen(FrameType type) {
        return seen.contains(type.code());
    }

    /// Whether a message of this type to or from the rendezvous of a mesh has passed.
    boolean hasSeenMessage(int type) {
        return seenMessages.contains(type);
    }

    private void accept() {
        try {
            while (true) {
                Socket here = keep(listener.accept());
                Socket there = keep(new Socket(InetAddress.getLoopbackAddress(), port));
                Thread.ofVirtual().start(() -> carry(here, there));
                Thread.ofVirtual().start(() -> carry(there, here));
            }
        } catch (IOException e) {
            // It was closed.
        }
    }

    private synchronized Socket keep(Socket socket) {
        open.add(socket);
        return socket;
    }

    private void carry(Socket from, Socket to) {
        try {
            DataInputStream in = new DataInputStream(from.getInputStream());
            OutputStream out = to.getOutputStream();
            for (int magic = in.read(); magic >= 0; magic = in.read()) {
                byte[] header = in.readNBytes(11);
                int type = ByteBuffer.wrap(header).getShort(5);
                byte[] payload = in.readNBytes(ByteBuffer.wrap(header).getInt(7));
                byte[] later = isText(type) ? payload : later(type, ByteBuffer.wrap(payload));
                seen.add(type);
                if (type == FrameType.MESSAGE.code()) {
                    seenMessages.add((int) payload[0]);
                }
                out.write(ByteBuffer.allocate(12 + later.length)
                        .put((byte) magic)
                        .put(header, 0, 3)
                        .putShort((short) 0x4711)
                        .putShort((short) type)
                        .putInt(later.length)
                        .put(later)
                        .array());
            }
            to.shutdownOutput();
        } catch (IOException e) {
            // One of the two has ended.
        }
    }

    /// Why a side refuses: text to the end of the frame.
    private static boolean isText(int type) {
        return type == FrameType.REFUSE.code() || type == FrameType.UNPROVED.code() || type == FrameType.BUSY.code();
    }

    private static byte[] later(int type, ByteBuffer payload) {
        if (type == FrameType.GREETING.code()) {
            payload.putShort(4, (short) HIGHEST).putShort(6, (short) 0x4711).putLong(8, -1);
        } else if (type == FrameType.HELLO.code() || type == FrameType.WELCOME.code()) {
            return longerDescription(payload);
        } else if (type == FrameType.MESSAGE.code() && payload.get(0) == TABLE) {
            return longerTable(payload);
        }
        return ByteBuffer.allocate(payload.remaining() + MORE.length)
                .put(payload)
                .put(MORE)
                .array();
    }

    private static byte[] longerDescription(ByteBuffer payload) {
        int count = payload.getShort(2);
        int length = payload.getShort(16);
        int first = 18 + payload.getShort(4);
        ByteBuffer all = ByteBuffer.allocate(payload.remaining() + (count + 1) * MORE.length);
        all.put(payload.slice(0, first)).putShort(16, (short) (length + MORE.length));
        for (int i = 0; i < count; i++) {
            all.put(payload.slice(first + i * length, length)).put(MORE);
        }
        return all.put(MORE).array();
    }

    private static byte[] longerTable(ByteBuffer payload) {
        int count = payload.getInt(17);
        ByteBuffer all = ByteBuffer.allocate(payload.remaining() + (count + 1) * MORE.length);
        all.put(payload.slice(0, 33)).putShort(23, (short) 0x4711);
        payload.position(33);
        for (int i = 0; i < count; i++) {
            byte[] entry = new byte[payload.get()];
            payload.get(entry);
            all.put((byte) (entry.length + MORE.length)).put(entry).put(MORE);
        }
        return all.put(MORE).array();
    }

    @Override
    public synchronized void close() throws IOException {
        listener.close();
        for (Socket each : open) {
            each.close();
        }
    }
}
