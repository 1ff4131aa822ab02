package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Waits for a frame of the peer, on a blocking socket.
final class MpaExchange {
    private MpaExchange() {}

    /// Waits for a frame, and reads nothing after it. The deadline covers the whole frame: single bytes do not
    /// extend it.
    ///
    /// @param deadline by [System#nanoTime()]
    /// @throws SocketTimeoutException if it is not complete in time
    /// @throws SilentEndException if the peer ended the connection before the first byte
    /// @throws io.rdmacomm.soft.iwarp.MpaException if it is not such a frame
    static MpaFrame await(Socket socket, MpaFrame.Kind kind, long deadline) throws IOException {
        MpaFrameReader reader = new MpaFrameReader(kind);
        InputStream in = socket.getInputStream();
        while (!reader.advance()) {
            ByteBuffer into = reader.buffer();
            socket.setSoTimeout(millisUntil(deadline));
            readSome(in, into);
        }
        return reader.frame();
    }

    private static void readSome(InputStream in, ByteBuffer into) throws IOException {
        boolean nothingYet = into.position() == 0;
        byte[] some = new byte[into.remaining()];
        try {
            int count = in.read(some);
            if (count >= 0) {
                into.put(some, 0, count);
                return;
            }
        } catch (SocketException e) {
            if (nothingYet) {
                throw new SilentEndException(e.getMessage());
            }
            throw e;
        }
        if (nothingYet) {
            throw new SilentEndException("the peer disconnected without a reply");
        }
        throw new EOFException("the peer disconnected during its reply");
    }

    /// Milliseconds until a deadline, rounded up.
    ///
    /// @throws SocketTimeoutException if it has passed
    static int millisUntil(long deadline) throws SocketTimeoutException {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
            throw new SocketTimeoutException("no reply in time");
        }
        return (int) Math.min(TimeUnit.NANOSECONDS.toMillis(left) + 1, Integer.MAX_VALUE);
    }

    /// The peer ended the connection before the first byte of a frame.
    static final class SilentEndException extends IOException {
        private static final long serialVersionUID = 1L;

        SilentEndException(@Nullable String message) {
            super(message);
        }
    }
}
