package io.rdmacomm.fault;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.DatagramListener;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.MulticastMembership;
import io.rdmacomm.verbs.cm.RequestListener;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// Stands for a connection manager.
final class FaultConnectionManager extends ConnectionManager {
    private final FaultContext context;
    private final ConnectionManager real;

    FaultConnectionManager(FaultContext context, ConnectionManager real) {
        super(context);
        this.context = context;
        this.real = real;
    }

    @Override
    public int privateDataLimit() {
        return real.privateDataLimit();
    }

    @Override
    protected Listener doListen(InetSocketAddress address, int backlog, IdentifierOptions options) {
        return new FaultListener(this, real.listen(address, backlog, options));
    }

    @Override
    protected Route doResolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos)
            throws InterruptedException {
        return new FaultRoute(this, real.resolve(destination, options, Duration.ofNanos(timeoutNanos)));
    }

    @Override
    protected DatagramListener doListenForDatagrams(InetSocketAddress address, int backlog) {
        return new FaultDatagramListener(this, real.listenForDatagrams(address, backlog));
    }

    @Override
    protected DatagramService doLookUp(InetSocketAddress destination, byte[] privateData, long timeoutNanos)
            throws InterruptedException {
        return real.lookUp(destination, privateData, Duration.ofNanos(timeoutNanos));
    }

    @Override
    protected MulticastMembership doJoinMulticast(InetAddress local, InetAddress group, long timeoutNanos)
            throws InterruptedException {
        return new FaultMulticastMembership(this, real.joinMulticast(local, group, Duration.ofNanos(timeoutNanos)));
    }

    /// Waits for a request at the real listener.
    ///
    /// @param stand stands for that listener
    /// @param wrap makes the object that stands for the request
    /// @return null after the timeout, and if `stand` was closed meanwhile
    static <R extends Resource> @Nullable R await(
            RequestListener<R> stand, RequestListener<R> real, long timeoutNanos, UnaryOperator<R> wrap)
            throws InterruptedException {
        try {
            R request = real.awaitRequest(Duration.ofNanos(timeoutNanos));
            return request == null ? null : wrap.apply(request);
        } catch (IllegalStateException e) {
            if (stand.isOpen()) {
                throw e;
            }
            return null;
        }
    }

    /// Has the real connection manager prepare the real queue pair.
    void prepare(QueuePair queuePair, Consumer<QueuePair> prepare) {
        FaultQueuePair prepared = (FaultQueuePair) queuePair;
        prepare.accept(prepared.real());
        prepared.follow();
    }

    /// Has the real connection manager connect the real queue pair, unless a rule fails that.
    Connection connect(QueuePair queuePair, Connecting connecting) throws InterruptedException {
        context.before(Operation.CONNECT);
        FaultQueuePair connected = (FaultQueuePair) queuePair;
        try {
            return new FaultConnection(this, connected, connecting.connect(connected.real()));
        } finally {
            connected.follow();
        }
    }

    /// Connects or accepts with a real queue pair.
    interface Connecting {
        Connection connect(QueuePair real) throws InterruptedException;
    }

    @Override
    protected void onClosing() {
        real.close(); // wakes its waiters
    }

    @Override
    protected void doClose() {
        real.close();
    }
}
