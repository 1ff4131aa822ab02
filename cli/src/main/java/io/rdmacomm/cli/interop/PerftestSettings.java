package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.ConnectionOptions;
import java.time.Duration;

/// The settings of a run. Both ends need the same program, message size and number of operations.
///
/// @param program the program at the other end
/// @param bytes the message size (-s)
/// @param iterations the number of operations (-n), at least 5
/// @param depth the operations in flight in a bandwidth test (-t)
/// @param connection how the queue pair connects: port (-i), GID index (-x), MTU (-m), service level (-S)
/// @param timeout how long to wait for the peer at each step; for a server that takes no part in the client's work,
///     all of that work is one step
public record PerftestSettings(
        PerftestProgram program, int bytes, int iterations, int depth, ConnectionOptions connection, Duration timeout) {
    /// The fewest operations that the C programs accept.
    public static final int FEWEST_ITERATIONS = 5;
    /// The most operations; there is a limit because the time of each is kept.
    public static final int MOST_ITERATIONS = 10_000_000;
    /// The TCP port of the C programs.
    public static final int PORT = 18_515;

    /// These settings with another way to connect.
    public PerftestSettings withConnection(ConnectionOptions how) {
        return new PerftestSettings(program, bytes, iterations, depth, how, timeout);
    }
}
