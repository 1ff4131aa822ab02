package io.rdmacomm.cli;

/// Accepts senders.
interface CopyServer extends AutoCloseable {
    /// Where it listens.
    int port();

    /// Serves senders until it is closed, or only one.
    ///
    /// @return how many files failed when it was only one; else 0
    int run(boolean once);

    @Override
    void close();
}
