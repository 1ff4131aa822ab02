package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.Completions;

/// Handles the receives that one queue pair has taken from a shared receive queue. Called on the polling
/// thread.
public interface ReceiveRoute {
    /// A receive has completed.
    ///
    /// @param index its place in `completions`
    /// @param receive which receive of the shared queue it is
    void received(Completions completions, int index, int receive);

    /// The shared part of the work IDs of the queue pair's owner, the member that fails if this fails.
    long owner();
}
