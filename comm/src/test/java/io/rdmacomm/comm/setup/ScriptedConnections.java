package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
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
final class ScriptedConnections extends ConnectionManager {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7174);

    final List<ScriptedListener> listeners = new ArrayList<>();
    /// The errno of the next attempt to listen.
    @Nullable
    Errno refusal;

    ScriptedConnections(Context context) {
        super(context);
    }

    @Override
    public int privateDataLimit() {
        return 56;
    }

    @Override
    protected Listener doListen(InetSocketAddress address, int backlog, IdentifierOptions options) {
        if (refusal != null) {
            throw new VerbException("listen (rdma_listen)", refusal, address + " is not to be had");
        }
        ScriptedListener listener = new ScriptedListener(this);
        listeners.add(listener);
        return listener;
    }

    @Override
    protected Route doResolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void doClose() {}

    static final class ScriptedListener extends Listener {
        private final ScriptedConnections connections;
        private final BlockingQueue<Supplier<ConnectionRequest>> script = new LinkedBlockingQueue<>();

        ScriptedListener(ScriptedConnections connections) {
            super(connections);
            this.connections = connections;
        }

        /// A request with this private data arrives.
        ScriptedRequest hear(byte... privateData) {
            ScriptedRequest request = new ScriptedRequest(connections, privateData);
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
        protected @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
            Supplier<ConnectionRequest> next = script.poll(timeoutNanos, TimeUnit.NANOSECONDS);
            return next == null ? null : next.get();
        }

        @Override
        protected void doClose() {
            fail(new IllegalStateException("closed"));
        }
    }

    static final class ScriptedRequest extends ConnectionRequest {
        private final byte[] privateData;
        private volatile boolean rejected;

        ScriptedRequest(ScriptedConnections connections, byte[] privateData) {
            super(connections);
            this.privateData = privateData;
        }

        boolean isRejected() {
            return rejected;
        }

        @Override
        public InetSocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return ADDRESS;
        }

        @Override
        public byte[] privateData() {
            return privateData;
        }

        @Override
        public int responderResources() {
            return 1;
        }

        @Override
        public int initiatorDepth() {
            return 1;
        }

        @Override
        protected void doPrepare(QueuePair queuePair) {}

        @Override
        protected Connection doAccept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void doReject(byte[] with) {
            rejected = true;
        }

        @Override
        protected void doRelease() {}
    }
}
