package io.rdmacomm.fault;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.DatagramRequestDriver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import io.rdmacomm.verbs.spi.MulticastDriver;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Connects queue pairs, unless a rule makes that fail.
final class FaultConnectionManager extends Wrapper<ConnectionManagerDriver> implements ConnectionManagerDriver {
    private final OpenDevice device;

    FaultConnectionManager(OpenDevice device, ConnectionManagerDriver real) {
        super(real);
        this.device = device;
    }

    @Override
    public int privateDataLimit() {
        return real.privateDataLimit();
    }

    @Override
    public ListenerDriver<ConnectionRequestDriver> listen(
            InetSocketAddress address, int backlog, IdentifierOptions options) {
        return new Listener(real.listen(address, backlog, options));
    }

    @Override
    public RouteDriver resolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos)
            throws InterruptedException {
        return new Route(real.resolve(destination, options, timeoutNanos));
    }

    @Override
    public ListenerDriver<DatagramRequestDriver> listenForDatagrams(InetSocketAddress address, int backlog) {
        return real.listenForDatagrams(address, backlog);
    }

    @Override
    public DatagramService lookUp(InetSocketAddress destination, byte[] privateData, long timeoutNanos)
            throws InterruptedException {
        return real.lookUp(destination, privateData, timeoutNanos);
    }

    @Override
    public MulticastDriver joinMulticast(InetAddress local, InetAddress group, long timeoutNanos)
            throws InterruptedException {
        return real.joinMulticast(local, group, timeoutNanos);
    }

    /// Until this is closed, no rules apply to changes of the queue pair.
    private interface Managing extends AutoCloseable {
        @Override
        void close();
    }

    private Managing manage(QueuePair queuePair) {
        long number = queuePair.number();
        device.managed().add(number);
        return () -> device.managed().remove(number);
    }

    private final class Listener extends Wrapper<ListenerDriver<ConnectionRequestDriver>>
            implements ListenerDriver<ConnectionRequestDriver> {
        Listener(ListenerDriver<ConnectionRequestDriver> real) {
            super(real);
        }

        @Override
        public InetSocketAddress localAddress() {
            return real.localAddress();
        }

        @Override
        public @Nullable ConnectionRequestDriver awaitRequest(long timeoutNanos) throws InterruptedException {
            ConnectionRequestDriver request = real.awaitRequest(timeoutNanos);
            return request == null ? null : new Request(request);
        }
    }

    private final class Request extends Wrapper<ConnectionRequestDriver> implements ConnectionRequestDriver {
        Request(ConnectionRequestDriver real) {
            super(real);
        }

        @Override
        public ConnectionFacts facts() {
            return real.facts();
        }

        @Override
        public void prepare(QueuePair queuePair) {
            try (Managing _ = manage(queuePair)) {
                real.prepare(queuePair);
            }
        }

        /// If a rule makes the acceptance fail, rejects the request, because it must be answered.
        @Override
        public ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
                throws InterruptedException {
            try {
                device.before(FaultOperation.CONNECT);
            } catch (VerbException e) {
                real.reject(new byte[0]);
                throw e;
            }
            try (Managing _ = manage(queuePair)) {
                return real.accept(queuePair, parameters, timeoutNanos);
            }
        }

        @Override
        public void reject(byte[] privateData) {
            real.reject(privateData);
        }
    }

    private final class Route extends Wrapper<RouteDriver> implements RouteDriver {
        Route(RouteDriver real) {
            super(real);
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
        public void prepare(QueuePair queuePair) {
            try (Managing _ = manage(queuePair)) {
                real.prepare(queuePair);
            }
        }

        @Override
        public ConnectionDriver connect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
                throws InterruptedException {
            device.before(FaultOperation.CONNECT);
            try (Managing _ = manage(queuePair)) {
                return real.connect(queuePair, parameters, timeoutNanos);
            }
        }
    }
}
