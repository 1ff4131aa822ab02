package io.rdmacomm.verbs;

import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A connection manager that resolves and accepts everything immediately and records its calls.
final class NullConnections extends ConnectionManager {
    static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7174);

    final List<String> log = new ArrayList<>();

    NullConnections(Context context) {
        super(context);
    }

    @Override
    public int privateDataLimit() {
        return 4;
    }

    @Override
    protected NullListener doListen(InetSocketAddress address, int backlog, IdentifierOptions options) {
        log.add("listen " + backlog);
        return new NullListener(this);
    }

    @Override
    protected Route doResolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos) {
        log.add("resolve");
        return new NullRoute(this);
    }

    @Override
    protected void doClose() {
        log.add("close manager");
    }

    private void init(QueuePair queuePair) {
        queuePair.modify(QueuePairFixture.init());
    }

    static final class NullListener extends Listener {
        final Deque<NullRequest> requests = new ArrayDeque<>();

        NullListener(NullConnections manager) {
            super(manager);
        }

        @Override
        public InetSocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        protected @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) {
            return requests.poll();
        }

        @Override
        protected void doClose() {}
    }

    static final class NullRoute extends Route {
        private final NullConnections connections;

        NullRoute(NullConnections manager) {
            super(manager);
            this.connections = manager;
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
        protected void doPrepare(QueuePair queuePair) {
            connections.init(queuePair);
        }

        @Override
        protected Connection doConnect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
            return new NullConnection(connections, queuePair, parameters.privateData());
        }

        @Override
        protected void doClose() {
            connections.log.add("close route");
        }
    }

    static final class NullRequest extends ConnectionRequest {
        private final NullConnections connections;

        NullRequest(NullConnections manager) {
            super(manager);
            this.connections = manager;
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
            return new byte[0];
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
        protected void doPrepare(QueuePair queuePair) {
            connections.init(queuePair);
        }

        @Override
        protected Connection doAccept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
            return new NullConnection(connections, queuePair, parameters.privateData());
        }

        @Override
        protected void doReject(byte[] privateData) {
            connections.log.add("reject with " + privateData.length + " bytes");
        }

        @Override
        protected void doRelease() {
            connections.log.add("release request");
        }
    }

    static final class NullConnection extends Connection {
        private final NullConnections connections;
        private final byte[] privateData;
        private @Nullable String ended;

        NullConnection(NullConnections manager, QueuePair queuePair, byte[] privateData) {
            super(manager, queuePair);
            this.connections = manager;
            this.privateData = privateData.clone();
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
            return privateData.clone();
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
        public @Nullable String disconnectReason() {
            return ended;
        }

        @Override
        protected void doDisconnect() {
            ended = "disconnected here";
        }

        @Override
        protected boolean doAwaitDisconnect(long timeoutNanos) {
            return ended != null;
        }

        @Override
        protected void doClose() {
            connections.log.add("close connection");
        }
    }
}
