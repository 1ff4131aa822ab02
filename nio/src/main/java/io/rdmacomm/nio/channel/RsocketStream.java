package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.Mapping;
import io.rdmacomm.nio.rsocket.Readiness;
import io.rdmacomm.nio.rsocket.RsConnection;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NotYetConnectedException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The bytes of a channel over an rsocket. Also serves a channel that is not connected: its calls throw
/// [NotYetConnectedException].
final class RsocketStream implements SocketStream {
    private final RdmaSocketChannel owner;
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();
    private final Spin readSpin = new Spin();
    private final Spin writeSpin = new Spin();
    private volatile @Nullable RsConnection connection;

    RsocketStream(RdmaSocketChannel owner) {
        this.owner = owner;
    }

    /// The connection is established.
    void set(RsConnection established) {
        connection = established;
    }

    /// The connection; null before it is established.
    @Nullable
    RsConnection connection() {
        return connection;
    }

    /// Waits until no thread reads or writes, and keeps others out.
    void lock() {
        readLock.lock();
        writeLock.lock();
    }

    void unlock() {
        writeLock.unlock();
        readLock.unlock();
    }

    private RsConnection connected() throws IOException {
        owner.ensureOpen();
        RsConnection open = connection;
        if (open == null || !owner.isEstablished()) {
            throw new NotYetConnectedException();
        }
        return open;
    }

    private RsConnection forWriting() throws IOException {
        RsConnection open = connected();
        if (owner.isOutputClosed()) {
            throw new ClosedChannelException();
        }
        return open;
    }

    // ---- Waiting ----

    /// Whether a blocking call must not start, because the thread is already interrupted.
    private boolean isEndedBefore() {
        return owner.isBlocking() && Thread.currentThread().isInterrupted();
    }

    private boolean isReadEnded() {
        return !owner.isOpen() || owner.isInputClosed();
    }

    private boolean isWriteEnded() {
        return !owner.isOpen() || owner.isOutputClosed();
    }

    private static boolean await(RsConnection open, int wanted, Spin spin, long nanos, BooleanSupplier ended) {
        long spinNanos = spin.nanos();
        long begin = System.nanoTime();
        boolean ready = open.await(wanted, spinNanos, nanos, ended);
        if (spinNanos > 0) {
            if (System.nanoTime() - begin >= spinNanos) {
                spin.failed();
            } else if (ready) {
                spin.helped();
            }
        }
        return ready;
    }

    // ---- Reading ----

    @Override
    public int read(ByteBuffer target) throws IOException {
        return readWithin(target, Timeouts.NONE);
    }

    @Override
    public int readWithin(ByteBuffer target, long nanos) throws IOException {
        readLock.lock();
        try {
            RsConnection open = connected();
            if (owner.isInputClosed()) {
                return -1;
            }
            if (target.isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
            if (!target.hasRemaining()) {
                return 0;
            }
            int bytes = isEndedBefore() ? 0 : open.read(target);
            if (bytes == 0 && owner.isBlocking()) {
                boolean done = false;
                try {
                    owner.beginBlocking();
                    bytes = awaitBytes(open, target, nanos);
                    done = bytes != 0 || owner.isInputClosed() || owner.isOpen();
                } finally {
                    owner.endBlocking(done);
                }
            }
            return owner.isInputClosed() && bytes == 0 ? -1 : bytes;
        } finally {
            readLock.unlock();
        }
    }

    private int awaitBytes(RsConnection open, ByteBuffer target, long nanos) throws IOException {
        long begin = System.nanoTime();
        long left = nanos;
        while (owner.isOpen() && !owner.isInputClosed() && left > 0) {
            if (await(open, Readiness.READ, readSpin, left, this::isReadEnded)) {
                int bytes = owner.isOpen() ? open.read(target) : 0;
                if (bytes != 0) {
                    return bytes;
                }
            } else if (Thread.currentThread().isInterrupted()) {
                break;
            }
            left = nanos - (System.nanoTime() - begin);
        }
        return 0;
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        readLock.lock();
        try {
            RsConnection open = connected();
            if (owner.isInputClosed()) {
                return -1;
            }
            int first = firstWithRoom(targets, offset, length);
            if (first < 0) {
                return 0;
            }
            long bytes = isEndedBefore() ? 0 : open.read(targets, offset, length);
            if (bytes == 0 && owner.isBlocking()) {
                int some = read(targets[first]);
                if (some <= 0) {
                    return some;
                }
                long more = open.read(targets, offset, length);
                return some + Math.max(0, more);
            }
            return bytes;
        } finally {
            readLock.unlock();
        }
    }

    private static int firstWithRoom(ByteBuffer[] buffers, int offset, int length) {
        int first = -1;
        for (int i = offset + length - 1; i >= offset; i--) {
            if (buffers[i].isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
            first = buffers[i].hasRemaining() ? i : first;
        }
        return first;
    }

    @Override
    public int available() throws IOException {
        return connected().available();
    }

    // ---- Writing ----

    @Override
    public int write(ByteBuffer source) throws IOException {
        writeLock.lock();
        try {
            RsConnection open = forWriting();
            int bytes = isEndedBefore() ? 0 : open.write(source);
            if (source.hasRemaining() && owner.isBlocking()) {
                boolean done = false;
                try {
                    owner.beginBlocking();
                    while (source.hasRemaining() && awaitRoom(open, Readiness.WRITE)) {
                        bytes += open.write(source);
                    }
                    done = !source.hasRemaining();
                } finally {
                    endWrite(done);
                }
            }
            return bytes;
        } finally {
            writeLock.unlock();
        }
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        writeLock.lock();
        try {
            RsConnection open = forWriting();
            long all = 0;
            for (int i = offset; i < offset + length; i++) {
                all += sources[i].remaining();
            }
            long bytes = isEndedBefore() ? 0 : open.write(sources, offset, length);
            if (bytes < all && owner.isBlocking()) {
                try {
                    owner.beginBlocking();
                    while (bytes < all && awaitRoom(open, Readiness.WRITE)) {
                        bytes += open.write(sources, offset, length);
                    }
                } finally {
                    endWrite(bytes == all);
                }
            }
            return bytes;
        } finally {
            writeLock.unlock();
        }
    }

    private boolean awaitRoom(RsConnection open, int wanted) {
        while (owner.isOpen()
                && !owner.isOutputClosed()
                && !Thread.currentThread().isInterrupted()) {
            if (await(open, wanted, writeSpin, Timeouts.NONE, this::isWriteEnded)) {
                return owner.isOpen() && !owner.isOutputClosed();
            }
        }
        return false;
    }

    /// Ends a write that has waited. Throws if the channel or its output was closed before the write was done.
    private void endWrite(boolean done) throws AsynchronousCloseException {
        owner.endBlocking(done);
        if (!done && owner.isOutputClosed()) {
            throw new AsynchronousCloseException();
        }
    }

    @Override
    public long transferFrom(FileChannel file, long position, long count) throws IOException {
        ByteBuffer buffer = FileBuffers.take();
        try {
            return transferFrom(file, position, count, buffer);
        } finally {
            FileBuffers.giveBack(buffer);
        }
    }

    private long transferFrom(FileChannel file, long position, long count, ByteBuffer buffer) throws IOException {
        var _ = connected();
        long sent = 0;
        try {
            while (sent < count) {
                buffer.clear().limit((int) Math.min(buffer.capacity(), count - sent));
                if (file.read(buffer, position + sent) <= 0) {
                    break;
                }
                sent += write(buffer.flip());
                if (buffer.hasRemaining()) {
                    break;
                }
            }
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            if (sent == 0) {
                throw e;
            }
            // The next call reports the failure.
        }
        return sent;
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        throw new SocketException("an rsocket has no urgent data");
    }

    // ---- Mapped memory ----

    /// Maps memory that the peer can write.
    ///
    /// @param offset the offset at which the peer writes to it
    /// @param bytes its length
    Mapping map(long offset, long bytes) throws IOException {
        return forMapping().map(offset, bytes);
    }

    private RsConnection forMapping() throws IOException {
        if (owner.ordinary() != null) {
            throw new UnsupportedOperationException(
                    owner + " is a TCP connection, which cannot map memory; see the rules of RdmaSelectorProvider");
        }
        return forWriting();
    }

    /// Writes to memory that the peer has mapped. A blocking channel writes all of the buffer.
    ///
    /// @param offset the offset of the peer's memory to write to
    int place(ByteBuffer source, long offset) throws IOException {
        writeLock.lock();
        try {
            RsConnection open = forMapping();
            int bytes = open.place(source, offset);
            if (source.hasRemaining() && owner.isBlocking()) {
                boolean done = false;
                try {
                    owner.beginBlocking();
                    while (source.hasRemaining() && awaitRoom(open, Readiness.PLACE)) {
                        bytes += open.place(source, offset + bytes);
                    }
                    done = !source.hasRemaining();
                } finally {
                    owner.endBlocking(done || bytes > 0);
                }
            }
            return bytes;
        } finally {
            writeLock.unlock();
        }
    }

    // ---- The end ----

    @Override
    public void shutdownInput() {}

    @Override
    public void shutdownOutput() {
        // First: a writer that this wakes must see the reason.
        owner.outputClosed();
        RsConnection open = connection;
        if (open != null) {
            open.shutdownOutput();
        }
    }

    @Override
    public void wake() {
        RsConnection open = connection;
        if (open != null) {
            open.wake();
        }
    }
}
