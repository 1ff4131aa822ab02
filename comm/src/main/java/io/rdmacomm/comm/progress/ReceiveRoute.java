package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.Completions;

/// Where the receives of a shared receive queue go that one queue pair has used. Called on the polling thread.
public interface ReceiveRoute {
    /// A receive has completed.
    ///
    /// @param index its place in `completions`
    /// @param receive which receive of the shared queue it is
    void received(Completions completions, int index, int receive);

    /// The part that the numbers of all work of the queue pair's owner share: of the member that fails if this does.
    long owner();
}
