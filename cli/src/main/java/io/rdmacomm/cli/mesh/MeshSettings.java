package io.rdmacomm.cli.mesh;

/// What the nodes do.
///
/// @param window how many blocks each node writes to each other one before all check
/// @param blockBytes the length of a block
/// @param channels over how many data channels each pair of nodes spreads them
/// @param iterations how often; 0 for as long as `durationNanos` say
/// @param durationNanos how long, after the warm-up
public record MeshSettings(int window, long blockBytes, int channels, long iterations, long durationNanos) {
    /// What nodes that do the same have in common.
    String inboxName() {
        return "inbox of " + window + " x " + blockBytes;
    }
}
