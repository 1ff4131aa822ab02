package io.rdmacomm.cli.mesh;

/// The traffic that the nodes make.
///
/// @param depth how many blocks each node has for each other node, and how many it writes at a time
/// @param passes how often each node writes all its blocks before all nodes check
/// @param blockBytes the length of a block
/// @param channels the number of data channels between two nodes
/// @param iterations the number of iterations; 0 to run for `durationNanos`
/// @param warmUpNanos the length of the warm-up, if the iterations are not limited
/// @param durationNanos the length of the measurement, after the warm-up
record MeshSettings(
        int depth, int passes, long blockBytes, int channels, long iterations, long warmUpNanos, long durationNanos) {
    /// How many writes a node makes to each other node in an iteration.
    int writes() {
        return passes * depth;
    }

    /// The name of the inbox, which is the same on all nodes with the same settings.
    String inboxName() {
        return "inbox of " + passes + " x " + depth + " x " + blockBytes;
    }
}
