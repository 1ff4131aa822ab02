package io.rdmacomm.comm.setup;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/// Bytes in TLS records (RFC 8446, RFC 5246). Memory grows with the records that arrive, so a peer that has
/// sent little costs little.
///
/// The end of the TCP connection ends this, with or without an alert: frames have a length, so truncation is
/// detected. Renegotiation is rejected, because a few frames do not need it.
final class TlsLine implements ByteLine {
    private static final int FIRST_BYTES = 1024;
    /// Records without data, such as tickets for later sessions.
    private static final int MOST_EMPTY = 64;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final byte FIRST_TYPE = 20;
    private static final byte LAST_TYPE = 23;

    private final SSLEngine engine;
    private final ByteLine socket;
    private final ReentrantLock sending = new ReentrantLock();
    /// Both are ready for reading.
    private ByteBuffer arrived = ByteBuffer.allocate(FIRST_BYTES).flip();

    private ByteBuffer clear = ByteBuffer.allocate(FIRST_BYTES).flip();
    private int empty;

    TlsLine(SSLEngine engine, ByteLine socket) {
        this.engine = engine;
        this.socket = socket;
    }

    /// Whether a connection in TLS can begin with this byte: the type of a record.
    static boolean isRecord(byte first) {
        return first >= FIRST_TYPE && first <= LAST_TYPE;
    }

    /// Begins the handshake: a client sends its first message.
    void begin() throws IOException {
        engine.beginHandshake();
        send(NOTHING);
    }

    /// Completes the handshake. Blocks. Sends an alert to the peer on failure.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @throws SSLException if it fails
    /// @throws EOFException if the peer has ended the connection
    void complete(long deadline) throws IOException {
        try {
            while (isHandshaking()) {
                if (isReading()) {
                    if (decrypt(deadline) < 0) {
                        throw new EOFException("end of the connection");
                    }
                } else {
                    send(NOTHING);
                }
            }
        } catch (SSLException e) {
            sendAlert(e);
            throw e;
        }
    }

    private boolean isHandshaking() {
        return engine.getHandshakeStatus() != SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING;
    }

    private boolean isReading() {
        return switch (engine.getHandshakeStatus()) {
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> true;
            default -> false;
        };
    }

    private void sendAlert(SSLException cause) {
        try {
            send(NOTHING);
        } catch (IOException e) {
            // The peer is gone, or there is no alert to send.
            cause.addSuppressed(e);
        }
    }

    @Override
    public int read(byte[] into, int offset, int length, long deadline) throws IOException {
        while (!clear.hasRemaining()) {
            if (decrypt(deadline) < 0) {
                return -1;
            }
            if (isHandshaking()) {
                throw new SSLException("the peer wants to negotiate TLS again");
            }
            if (!clear.hasRemaining() && ++empty > MOST_EMPTY) {
                throw new SSLException("the peer sends TLS records without data");
            }
        }
        int count = Math.min(length, clear.remaining());
        clear.get(into, offset, count);
        return count;
    }

    /// Reads one record. Its data is in [#clear] afterwards.
    ///
    /// @return -1 if there is none, because the peer has ended the connection
    private int decrypt(long deadline) throws IOException {
        while (true) {
            clear.clear();
            SSLEngineResult.Status status;
            try {
                status = engine.unwrap(arrived, clear).getStatus();
            } finally {
                clear.flip();
            }
            runTasks();
            switch (status) {
                case OK -> {
                    return 0;
                }
                case CLOSED -> {
                    return -1;
                }
                case BUFFER_OVERFLOW ->
                    clear = ByteBuffer.allocate(
                                    longer(clear, engine.getSession().getApplicationBufferSize()))
                            .flip();
                case BUFFER_UNDERFLOW -> {
                    if (fill(deadline) < 0) {
                        return -1;
                    }
                }
            }
        }
    }

    private int fill(long deadline) throws IOException {
        if (arrived.remaining() == arrived.capacity()) {
            ByteBuffer larger =
                    ByteBuffer.allocate(longer(arrived, engine.getSession().getPacketBufferSize()));
            arrived = larger.put(arrived).flip();
        }
        arrived.compact();
        int count = socket.read(arrived.array(), arrived.position(), arrived.remaining(), deadline);
        arrived.position(arrived.position() + Math.max(0, count)).flip();
        return count;
    }

    private static int longer(ByteBuffer full, int most) throws SSLException {
        if (full.capacity() >= most) {
            throw new SSLException("a TLS record is longer than " + most + " bytes");
        }
        return Math.min(most, 4 * full.capacity());
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
        send(bytes);
    }

    /// Sends bytes, or, if there are none, pending handshake messages.
    private void send(ByteBuffer bytes) throws IOException {
        sending.lock();
        try {
            ByteBuffer record = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            do {
                SSLEngineResult result = engine.wrap(bytes, record.clear());
                runTasks();
                socket.write(record.flip());
                if (result.getStatus() == SSLEngineResult.Status.CLOSED && bytes.hasRemaining()) {
                    throw new SSLException("this side has ended TLS");
                }
            } while (bytes.hasRemaining() || engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP);
        } finally {
            sending.unlock();
        }
    }
}
