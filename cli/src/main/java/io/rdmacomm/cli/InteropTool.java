package io.rdmacomm.cli;

import io.rdmacomm.cli.interop.RpingClient;
import io.rdmacomm.cli.interop.RpingText;
import io.rdmacomm.verbs.Capability;

/// The C programs whose protocol `rdmacomm ping` speaks.
enum InteropTool {
    /// ibv_rc_pingpong(1): SENDs both ways over a queue pair that was connected by numbers.
    RC_PINGPONG(Capability.CONNECT_BY_NUMBERS, 18_515, 4096, 1, 1 << 30, 1000),
    /// rping(1): READ and WRITE by the server, over a connection of the connection manager.
    RPING(Capability.CONNECTION_MANAGER, RpingClient.PORT, 64, RpingText.MIN_BYTES, RpingText.MAX_BYTES, 5);

    private final Capability capability;
    private final int port;
    private final int bytes;
    private final int leastBytes;
    private final int mostBytes;
    private final int count;

    InteropTool(Capability capability, int port, int bytes, int leastBytes, int mostBytes, int count) {
        this.capability = capability;
        this.port = port;
        this.bytes = bytes;
        this.leastBytes = leastBytes;
        this.mostBytes = mostBytes;
        this.count = count;
    }

    /// What the device must be able to do.
    Capability capability() {
        return capability;
    }

    /// The TCP port unless another one is given.
    int port() {
        return port;
    }

    /// The length of a message unless another one is given.
    int bytes() {
        return bytes;
    }

    /// The shortest message.
    int leastBytes() {
        return leastBytes;
    }

    /// The longest message.
    int mostBytes() {
        return mostBytes;
    }

    /// How many pings there are unless another number is given.
    int count() {
        return count;
    }
}
