package io.rdmacomm.tests.fuzz;

import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/// A socket on which some bytes have arrived, as many at a time as is said.
final class ByteChunks implements ReadableByteChannel {
    private final byte[] all;
    private final int atATime;
    private int at;
    private int end;

    ByteChunks(byte[] all, int atATime) {
        this.all = all;
        this.atATime = atATime;
    }

    /// More arrives.
    void next() {
        end = Math.min(all.length, at + atATime);
    }

    @Override
    public int read(ByteBuffer into) {
        if (at == all.length) {
            return -1;
        }
        int count = Math.min(into.remaining(), end - at);
        into.put(all, at, count);
        at += count;
        return count;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void close() {}
}
