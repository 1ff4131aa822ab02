package io.rdmacomm.tests.steps;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.rdmacomm.comm.BufferPool;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Lease;
import io.rdmacomm.comm.Piece;
import io.rdmacomm.comm.PoolOptions;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Lends one value, and replaces it by another one in the same memory.
final class LeaseOwner implements SessionListener, AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final ServerSession session;
    private final BufferPool pool;
    private byte content;
    // Of the value that is lent.
    private @Nullable Piece piece;
    private byte @Nullable [] answer;
    private volatile @Nullable EndPoint holder;

    LeaseOwner(String device) {
        session = ServerSession.listen(SessionOptions.defaults()
                .withDevice(device)
                .withAddress("127.0.0.1", 0)
                .withListener(this));
        // Room for one piece.
        PoolOptions options = PoolOptions.of(LeaseHolder.BYTES * 3L / 2).withIdle(Duration.ofMillis(10));
        pool = session.pool("values", options, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        offer();
    }

    int port() {
        return session.port();
    }

    @Override
    public void onEndPoint(EndPoint endPoint) {
        holder = endPoint;
        endPoint.channel(0).onMessage((channel, question) -> {
            var _ = channel.async().send(MemorySegment.ofArray(answer()), question.tag());
        });
    }

    private synchronized byte[] answer() {
        byte[] known = answer;
        return known == null ? new byte[0] : known;
    }

    /// Waits until the memory is free, and lends the next value in it.
    private void offer() {
        Piece taken = pool.take(LeaseHolder.BYTES, TIMEOUT);
        content++;
        taken.segment().fill(content);
        RemoteBuffer remote = taken.asRemote();
        byte[] told = new byte[LeaseHolder.ANSWER];
        MemorySegment telling = MemorySegment.ofArray(told);
        telling.set(JAVA_LONG_UNALIGNED, 0, remote.address());
        telling.set(JAVA_INT_UNALIGNED, 8, remote.key());
        telling.set(JAVA_BYTE, 12, content);
        synchronized (this) {
            piece = taken;
            answer = told;
        }
    }

    /// Takes the value back, and lends another one in its memory.
    void replace() {
        Piece old;
        synchronized (this) {
            old = piece;
            piece = null;
            answer = null;
        }
        if (old != null) {
            old.releaseAfter(Lease.grace(LeaseHolder.TERM));
        }
        offer();
    }

    /// Whether the holder's connection has not failed.
    boolean isConnected() {
        EndPoint peer = holder;
        return peer != null && peer.state() == EndPointState.READY;
    }

    @Override
    public void close() {
        session.close();
    }
}
