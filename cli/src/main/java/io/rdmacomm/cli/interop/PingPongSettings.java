package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathMtu;
import java.time.Duration;

/// How ibv_rc_pingpong(1) is played. Both ends need the same number of bytes and of exchanges.
///
/// @param bytes the length of a message (-s)
/// @param iterations how many exchanges there are (-n)
/// @param receives how many receives are posted at a time (-r)
/// @param connection how the queue pair is brought up: port (-i), GID index (-g), MTU (-m), service level (-l)
/// @param check whether the content of each message is checked (-c)
/// @param patience how long to wait for the peer, at each step
public record PingPongSettings(
        int bytes, int iterations, int receives, ConnectionOptions connection, boolean check, Duration patience) {
    /// The largest payload of a packet, as in the C program unless it is told otherwise.
    public static final PathMtu MTU = PathMtu.MTU_1024;
}
