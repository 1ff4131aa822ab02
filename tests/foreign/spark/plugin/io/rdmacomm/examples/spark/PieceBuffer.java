package io.rdmacomm.examples.spark;

import io.rdmacomm.comm.Piece;
import java.io.IOException;
import java.io.InputStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.util.ByteBufferInputStream;

/// A block in a piece of the pool. Both count who uses them.
final class PieceBuffer extends NioManagedBuffer {
    private final Piece piece;

    PieceBuffer(Piece piece) {
        super(piece.buffer());
        this.piece = piece;
    }

    /// Netty's stream would read the memory without asking whether the session, which may end first, is closed.
    @Override
    public InputStream createInputStream() throws IOException {
        return new ByteBufferInputStream(nioByteBuffer());
    }

    @Override
    public ManagedBuffer retain() {
        piece.retain();
        return this;
    }

    @Override
    public ManagedBuffer release() {
        piece.release();
        return this;
    }
}
