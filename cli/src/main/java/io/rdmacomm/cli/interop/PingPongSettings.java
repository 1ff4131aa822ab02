package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairType;
import java.time.Duration;

/// The settings of a run of ibv_rc_pingpong(1), ibv_uc_pingpong(1) or ibv_ud_pingpong(1). Both sides need the same
/// message size and number of iterations.
///
/// @param type the transport service, which distinguishes these programs
/// @param bytes the message size (-s)
/// @param iterations the number of messages in each direction (-n)
/// @param receives the number of posted receives (-r)
/// @param connection how the queue pair connects: port (-i), GID index (-g), MTU (-m), service level (-l)
/// @param check whether to check the content of each message (-c)
/// @param timeout how long to wait for the peer at each step
record PingPongSettings(
        QueuePairType type,
        int bytes,
        int iterations,
        int receives,
        ConnectionOptions connection,
        boolean check,
        Duration timeout) {
    /// The default path MTU of the C program.
    static final PathMtu MTU = PathMtu.MTU_1024;

    /// The name of the C program.
    String program() {
        return switch (type) {
            case RELIABLE_CONNECTED -> "ibv_rc_pingpong";
            case UNRELIABLE_CONNECTED -> "ibv_uc_pingpong";
            case UNRELIABLE_DATAGRAM -> "ibv_ud_pingpong";
        };
    }

    boolean isDatagram() {
        return type == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    /// The bytes in front of a received message.
    int headerBytes() {
        return isDatagram() ? GlobalRoutingHeader.BYTES : 0;
    }
}
