package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathMtu;
import java.time.Duration;

/// The settings of a run of ibv_rc_pingpong(1). Both sides need the same message size and number of iterations.
///
/// @param bytes the message size (-s)
/// @param iterations the number of messages in each direction (-n)
/// @param receives the number of posted receives (-r)
/// @param connection how the queue pair connects: port (-i), GID index (-g), MTU (-m), service level (-l)
/// @param check whether to check the content of each message (-c)
/// @param patience how long to wait for the peer at each step
public record PingPongSettings(
        int bytes, int iterations, int receives, ConnectionOptions connection, boolean check, Duration patience) {
    /// The default path MTU of the C program.
    public static final PathMtu MTU = PathMtu.MTU_1024;
}
