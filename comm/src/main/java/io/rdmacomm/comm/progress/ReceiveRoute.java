package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.Completions;

/// Where the receives of a shared receive queue go that one queue pair has used. Called on the polling thread.
@FunctionalInterface
public interface ReceiveRoute {
    /// A receive has completed.
    ///
    /// @param index its place in `completions`
    /// @param receive which receive of the shared queue it is
    void received(Completions completions, int index, int receive);
}
