package io.rdmacomm.cli.mesh;

/// The traffic that the nodes make.
///
/// @param window how many blocks each node has for each other one, and writes at a time
/// @param passes how often each node writes the window before all check
/// @param blockBytes the length of a block
/// @param channels over how many data channels each pair of nodes spreads them
/// @param iterations how often; 0 for as long as `durationNanos` say
/// @param warmUpNanos how long before it counts, if the iterations are not limited
/// @param durationNanos how long, after the warm-up
public record MeshSettings(
        int window, int passes, long blockBytes, int channels, long iterations, long warmUpNanos, long durationNanos) {
    /// How many writes a node makes to each other one in an iteration.
    int writes() {
        return passes * window;
    }

    /// The same for all nodes whose settings agree.
    String inboxName() {
        return "inbox of " + passes + " x " + window + " x " + blockBytes;
    }
}
