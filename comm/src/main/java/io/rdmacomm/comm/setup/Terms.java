package io.rdmacomm.comm.setup;

/// The version and the features that the two sides of a hand-shake have agreed on.
///
/// @param version the highest version that both speak
/// @param features the features that both have, a bit each
public record Terms(int version, long features) {
    /// Before they have agreed.
    public static final Terms NONE = new Terms(0, 0);
}
