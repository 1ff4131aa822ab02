package io.rdmacomm.comm;

/// Is told of the endpoints of a session, one at a time. Must not block.
interface SessionObserver extends AutoCloseable {
    SessionObserver NONE = new SessionObserver() {
        @Override
        public void opened(EndPoint endPoint) {}

        @Override
        public void closed(EndPoint endPoint) {}

        @Override
        public void close() {}
    };

    void opened(EndPoint endPoint);

    void closed(EndPoint endPoint);

    /// The session is closed.
    @Override
    void close();
}
