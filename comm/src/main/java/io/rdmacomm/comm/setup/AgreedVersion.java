package io.rdmacomm.comm.setup;

/// The agreed version and features of the two sides of a handshake.
///
/// @param version the highest version that both support
/// @param features the features that both have, one bit each
public record AgreedVersion(int version, long features) {
    /// The value before the two sides have agreed.
    public static final AgreedVersion NONE = new AgreedVersion(0, 0);
}
