package io.rdmacomm.soft.roce;

/// The number of packets that may be in flight: one more for each acknowledged window, half as many after a loss or
/// a congestion notification. Under the queue pair's send lock.
final class CongestionWindow {
    private static final int FIRST = 32;
    private static final int LEAST = 4;
    /// The most that rxe has in flight.
    private static final int MOST = 128;
    /// The receive buffer that Linux grants by default (`net.core.rmem_max`) holds 50 packets of 4 KiB.
    private static final int MOST_BYTES = 128 * 1024;
    /// The window shrinks only once per congestion.
    private static final long PAUSE_NANOS = 50_000;

    private final int most;
    private int packets;
    private int acknowledged;
    private long shrunk = System.nanoTime() - PAUSE_NANOS;

    /// @param mtu the most bytes of payload in a packet
    CongestionWindow(int mtu) {
        this.most = Math.min(MOST, MOST_BYTES / mtu);
        this.packets = Math.min(FIRST, most);
    }

    int packets() {
        return packets;
    }

    /// Packets were acknowledged.
    void grow(long count) {
        acknowledged += (int) Math.min(count, MOST);
        if (acknowledged >= packets) {
            acknowledged = 0;
            packets = Math.min(packets + 1, most);
        }
    }

    /// Packets were lost, or a switch or the peer reports congestion.
    void shrink() {
        long now = System.nanoTime();
        if (now - shrunk >= PAUSE_NANOS) {
            shrunk = now;
            acknowledged = 0;
            packets = Math.max(packets / 2, LEAST);
        }
    }
}
