package io.rdmacomm.cli.copy;

/// Receives files from any number of senders at the same time.
interface CopyServer extends AutoCloseable {
    /// The line that reports where it listens.
    String line();

    /// Serves senders until the server is closed, or only one sender. Blocks.
    ///
    /// @return the number of failed files of the only sender; 0 unless `once`
    int run(boolean once);

    @Override
    void close();
}
