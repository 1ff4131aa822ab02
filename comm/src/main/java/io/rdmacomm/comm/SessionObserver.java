package io.rdmacomm.comm;

/// Is told of the endpoints of a session that are opened and closed, one at a time. Must not block.
interface SessionObserver extends AutoCloseable {
    SessionObserver NONE = new SessionObserver() {
        @Override
        public void opened(PeerConnection connection) {}

        @Override
        public void closed(PeerConnection connection) {}

        @Override
        public void close() {}
    };

    void opened(PeerConnection connection);

    void closed(PeerConnection connection);

    /// The session is closed.
    @Override
    void close();
}
