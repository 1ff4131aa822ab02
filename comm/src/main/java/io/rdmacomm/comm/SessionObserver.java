package io.rdmacomm.comm;

/// Notified when endpoints of a session are opened and closed. Called by one thread at a time; must not
/// block.
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
