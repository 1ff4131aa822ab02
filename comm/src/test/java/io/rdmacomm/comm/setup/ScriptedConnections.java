package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A connection manager whose listeners hear what a test says, and that connects nothing.
final class ScriptedConnections implements ConnectionManagerDriver {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7174);

    final List<ScriptedListener> listeners = new ArrayList<>();
    /// The errno of the next attempt to listen.
    @Nullable
    Errno refusal;

    @Override
    public int privateDataLimit() {
        return 56;
    }

    @Override
    public ScriptedListener listen(InetSocketAddress address, int backlog, IdentifierOptions options) {
        if (refusal != null) {
            throw new VerbException("listen (rdma_listen)", refusal, address + " is not to be had");
        }
        ScriptedListener listener = new ScriptedListener();
        listeners.add(listener);
        return listener;
    }

    @Override
    public RouteDriver resolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}

    static final class ScriptedListener implements ListenerDriver<ConnectionRequestDriver> {
        private final BlockingQueue<Supplier<@Nullable ScriptedRequest>> script = new LinkedBlockingQueue<>();

        /// A request with this private data arrives.
        ScriptedRequest hear(byte... privateData) {
            ScriptedRequest request = new ScriptedRequest(privateData);
            script.add(() -> request);
            return request;
        }

        /// Listening fails.
        void fail(Throwable why) {
            script.add(() -> {
                if (why instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) why;
            });
        }

        @Override
        public InetSocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        public @Nullable ConnectionRequestDriver awaitRequest(long timeoutNanos) throws InterruptedException {
            Supplier<@Nullable ScriptedRequest> next = script.poll(timeoutNanos, TimeUnit.NANOSECONDS);
            return next == null ? null : next.get();
        }

        @Override
        public void closing() {
            script.add(() -> null);
        }

        @Override
        public void close() {}
    }

    static final class ScriptedRequest implements ConnectionRequestDriver {
        private final byte[] privateData;
        private volatile boolean rejected;

        ScriptedRequest(byte[] privateData) {
            this.privateData = privateData;
        }

        boolean isRejected() {
            return rejected;
        }

        @Override
        public ConnectionFacts facts() {
            return new ConnectionFacts(ADDRESS, ADDRESS, privateData, 1, 1);
        }

        @Override
        public void prepare(QueuePair queuePair) {}

        @Override
        public ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void reject(byte[] with) {
            rejected = true;
        }

        @Override
        public void close() {}
    }
}
