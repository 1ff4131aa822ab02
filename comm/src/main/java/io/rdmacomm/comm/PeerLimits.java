package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;

/// Limits for the resources that peers may use in a session. Immutable.
public final class PeerLimits extends ValueObject<PeerLimits.Values> {
    private static final int LEAST_SETUPS = 8;
    private static final PeerLimits DEFAULTS = new PeerLimits(new Values(1024, 256, 1024));

    record Values(int endPoints, int endPointsPerAddress, int buffers) {}

    private PeerLimits(Values values) {
        super(values);
    }

    /// 1,024 endpoints, 256 of them with one address, and 1,024 buffers of each peer.
    public static PeerLimits defaults() {
        return DEFAULTS;
    }

    /// The number of endpoints with clients that a server may have at a time, including those that are being
    /// set up, and those that have ended and are not closed. Further clients are refused.
    public int endPoints() {
        return values.endPoints;
    }

    /// The part of [#endPoints()] that clients with the same address may have. The IPv6 addresses of one /64
    /// network count as one.
    public int endPointsPerAddress() {
        return values.endPointsPerAddress;
    }

    /// The number of buffers that one peer may announce. An endpoint whose peer announces more fails.
    public int buffers() {
        return values.buffers;
    }

    /// The number of unauthenticated clients of one address that are set up at a time: an eighth of
    /// [#endPointsPerAddress()], and at least 8. The others are queued.
    int setupsPerAddress() {
        return Math.max(LEAST_SETUPS, endPointsPerAddress() / LEAST_SETUPS);
    }

    /// These limits with another one for endpoints.
    ///
    /// @param value 1 to 65536
    /// @throws IllegalArgumentException if it is out of its range
    public PeerLimits withEndPoints(int value) {
        Bounds.range("limit of endpoints", value, 1, 1 << 16);
        return new PeerLimits(new Values(value, values.endPointsPerAddress, values.buffers));
    }

    /// These limits with another one for endpoints with clients of one address.
    ///
    /// @param value 1 to 65536
    /// @throws IllegalArgumentException if it is out of its range
    public PeerLimits withEndPointsPerAddress(int value) {
        Bounds.range("limit of endpoints of an address", value, 1, 1 << 16);
        return new PeerLimits(new Values(values.endPoints, value, values.buffers));
    }

    /// These limits with another one for the buffers that a peer announces.
    ///
    /// @param value 1 to 1048576
    /// @throws IllegalArgumentException if it is out of its range
    public PeerLimits withBuffers(int value) {
        Bounds.range("limit of announced buffers", value, 1, 1 << 20);
        return new PeerLimits(new Values(values.endPoints, values.endPointsPerAddress, value));
    }
}
