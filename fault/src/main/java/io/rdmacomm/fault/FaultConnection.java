package io.rdmacomm.fault;

import io.rdmacomm.verbs.cm.Connection;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Stands for a connection.
final class FaultConnection extends Connection {
    private final FaultQueuePair connected;
    private final Connection real;

    FaultConnection(FaultConnectionManager manager, FaultQueuePair queuePair, Connection real) {
        super(manager, queuePair);
        this.connected = queuePair;
        this.real = real;
    }

    @Override
    public InetSocketAddress localAddress() {
        return real.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return real.remoteAddress();
    }

    @Override
    public byte[] privateData() {
        return real.privateData();
    }

    @Override
    public int responderResources() {
        return real.responderResources();
    }

    @Override
    public int initiatorDepth() {
        return real.initiatorDepth();
    }

    @Override
    public @Nullable String disconnectReason() {
        return real.disconnectReason();
    }

    @Override
    protected void doDisconnect() {
        if (real.isOpen()) {
            real.disconnect();
        }
        connected.noticeState();
    }

    @Override
    protected boolean doAwaitDisconnect(long timeoutNanos) throws InterruptedException {
        boolean ended = real.awaitDisconnect(Duration.ofNanos(timeoutNanos));
        connected.noticeState();
        return ended;
    }

    @Override
    protected void onClosing() {
        real.close(); // wakes its waiters
    }

    @Override
    protected void doClose() {
        real.close();
        connected.noticeState();
    }
}
