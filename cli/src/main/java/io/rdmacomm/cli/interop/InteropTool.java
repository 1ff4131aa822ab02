package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.Capability;

/// The C programs whose protocols `rdmacomm ping` speaks, with their defaults.
enum InteropTool {
    /// ibv_rc_pingpong(1): SENDs in both directions over queue pairs that connect by number.
    RC_PINGPONG(Capability.CONNECT_BY_NUMBERS, 18_515, 1, 1 << 30, 4096, 1000),
    /// ibv_uc_pingpong(1): the same over an unreliable connection.
    UC_PINGPONG(Capability.UNRELIABLE_CONNECTED, 18_515, 1, 1 << 30, 4096, 1000),
    /// ibv_ud_pingpong(1): the same with datagrams.
    UD_PINGPONG(Capability.UNRELIABLE_DATAGRAM, 18_515, 1, 4096, 2048, 1000),
    /// rping(1): READs and WRITEs by the server, over a connection made by the connection manager.
    RPING(Capability.CONNECTION_MANAGER, RpingClient.PORT, RpingText.MIN_BYTES, RpingText.MAX_BYTES, 64, 5);

    private final Capability capability;
    private final int port;
    private final int minBytes;
    private final int maxBytes;
    private final int bytes;
    private final int count;

    InteropTool(Capability capability, int port, int minBytes, int maxBytes, int bytes, int count) {
        this.capability = capability;
        this.port = port;
        this.minBytes = minBytes;
        this.maxBytes = maxBytes;
        this.bytes = bytes;
        this.count = count;
    }

    /// The capability that the device must have.
    Capability capability() {
        return capability;
    }

    /// The default TCP port.
    int port() {
        return port;
    }

    int minBytes() {
        return minBytes;
    }

    int maxBytes() {
        return maxBytes;
    }

    /// The default message size.
    int bytes() {
        return bytes;
    }

    /// The default number of pings.
    int count() {
        return count;
    }
}
