package io.rdmacomm.compare.peer;

import java.io.IOException;

/// A library that is compared, as a pair of processes.
interface Peer {
    /// Serves one client, and then returns.
    void serve(Task task) throws IOException, InterruptedException;

    /// Connects to the server and measures.
    ///
    /// @return microseconds of a message in one direction or of a request with its answer; of a stream the messages
    /// per microsecond
    double measure(Task task) throws IOException, InterruptedException;
}
