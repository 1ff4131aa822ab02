package io.rdmacomm.cli.copy;

/// Receives files from any number of senders at the same time.
interface CopyServer extends AutoCloseable {
    /// The line with the place where it listens.
    String line();

    /// Serves senders until the server is closed, or only one. Blocks.
    ///
    /// @return how many files of the only sender failed; 0 if there was no such limit
    int run(boolean once);

    @Override
    void close();
}
