package io.rdmacomm.soft.linux;

import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// A socket that sends several packets with one call. It is not connected and does not fragment; Linux numbers the
/// packets of one call from 0 in their IP headers. Thread-safe.
public final class SegmentSocket implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(SegmentSocket.class);
    private static final int SEND_BUFFER = 4 << 20;
    /// No packets are expected here.
    private static final int RECEIVE_BUFFER = 1;
    /// The number of threads that are likely to send at the same time; further ones send packet by packet.
    private static final int BATCHES = 8;

    private final int descriptor;
    private final int port;
    private final AtomicReferenceArray<@Nullable SegmentBatch> batches = new AtomicReferenceArray<>(BATCHES);

    private SegmentSocket(InetAddress local) throws IOException {
        MemorySegment address = SocketAddress.allocate(SocketAddress.bits(local), 0);
        this.descriptor = SocketCalls.open(address);
        this.port = SocketAddress.port(address);
        boolean complete = false;
        try {
            SocketCalls.set(
                    descriptor, SocketCalls.IPPROTO_IP, SocketCalls.IP_MTU_DISCOVER, SocketCalls.IP_PMTUDISC_DO);
            SocketCalls.set(descriptor, SocketCalls.SOL_SOCKET, SocketCalls.SO_SNDBUF, SEND_BUFFER);
            SocketCalls.set(descriptor, SocketCalls.SOL_SOCKET, SocketCalls.SO_RCVBUF, RECEIVE_BUFFER);
            // Fails on kernels before 4.18.
            SocketCalls.set(descriptor, SocketCalls.SOL_UDP, SocketCalls.UDP_SEGMENT, 0);
            complete = true;
        } finally {
            if (!complete) {
                SocketCalls.close(descriptor);
            }
        }
        for (int i = 0; i < BATCHES; i++) {
            batches.set(i, new SegmentBatch(this));
        }
    }

    /// A socket at any port of an address.
    ///
    /// @return null if this program has no native access, or the system does not support this
    public static @Nullable SegmentSocket open(InetAddress local) {
        if (!NativeAccess.isUsable()) {
            return null;
        }
        try {
            return new SegmentSocket(local);
        } catch (IOException | RuntimeException | LinkageError e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> "packets leave one by one from " + local, e);
            return null;
        }
    }

    /// The UDP port that packets come from.
    public int port() {
        return port;
    }

    int descriptor() {
        return descriptor;
    }

    /// An empty batch for the calling thread; null if all are in use.
    public @Nullable SegmentBatch take() {
        for (int i = 0; i < BATCHES; i++) {
            SegmentBatch batch = batches.get(i);
            if (batch != null && batches.compareAndSet(i, batch, null)) {
                batch.clear();
                return batch;
            }
        }
        return null;
    }

    /// Gives a batch back.
    public void giveBack(SegmentBatch batch) {
        for (int i = 0; !batches.compareAndSet(i, null, batch); i = (i + 1) % BATCHES) {
            Thread.onSpinWait();
        }
    }

    /// Closes the socket. No thread sends any more.
    @Override
    public void close() {
        SocketCalls.close(descriptor);
    }
}
