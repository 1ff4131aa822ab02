package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;

/// How much peers may make a session keep. Immutable.
///
/// @param endPoints the endpoints that a server has at a time with clients that have connected to it, those
///         included that are being set up, and those that have ended and are not closed; 1 to 65536. Further
///         clients are refused
/// @param endPointsPerAddress how many of them clients with the same address have, 1 to 65536. The IPv6 addresses
///         of one network (64 bits) count as one
/// @param buffers the buffers that one peer announces, 1 to 1048576. An endpoint whose peer announces more fails
public record PeerLimits(int endPoints, int endPointsPerAddress, int buffers) {
    private static final int LEAST_SET_UPS = 8;
    private static final PeerLimits DEFAULTS = new PeerLimits(1024, 256, 1024);

    /// Checks the ranges.
    public PeerLimits {
        Bounds.range("limit of endpoints", endPoints, 1, 1 << 16);
        Bounds.range("limit of endpoints of an address", endPointsPerAddress, 1, 1 << 16);
        Bounds.range("limit of announced buffers", buffers, 1, 1 << 20);
    }

    /// 1,024 endpoints, 256 of them with one address, and 1,024 buffers of each peer.
    public static PeerLimits defaults() {
        return DEFAULTS;
    }

    /// How many clients of one address, of those that have proved nothing, are set up at a time: an eighth of
    /// [#endPointsPerAddress()], and at least 8. The others wait in line.
    int setUpsPerAddress() {
        return Math.max(LEAST_SET_UPS, endPointsPerAddress / LEAST_SET_UPS);
    }

    /// These limits with another one for endpoints.
    public PeerLimits withEndPoints(int value) {
        return new PeerLimits(value, endPointsPerAddress, buffers);
    }

    /// These limits with another one for endpoints with clients of one address.
    public PeerLimits withEndPointsPerAddress(int value) {
        return new PeerLimits(endPoints, value, buffers);
    }

    /// These limits with another one for the buffers that a peer announces.
    public PeerLimits withBuffers(int value) {
        return new PeerLimits(endPoints, endPointsPerAddress, value);
    }
}
