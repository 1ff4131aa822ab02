package io.rdmacomm.soft.cm;

/// Limits on what strangers can make a listener hold.
///
/// @param halfOpen how many connections may be open whose request is not complete; if there are more, the oldest is
/// closed, because an honest peer sends its request at once
/// @param requestNanos how long a request may take to arrive
/// @param backlog how many complete requests may wait to be taken; more are rejected
public record AcceptLimits(int halfOpen, long requestNanos, int backlog) {
    private static final int HALF_OPEN = 256;
    private static final long REQUEST_NANOS = 5_000_000_000L;

    /// The usual limits: 256 half-open connections, 5 seconds, as Linux siw has it.
    ///
    /// @param backlog how many complete requests may wait to be taken
    public static AcceptLimits withBacklog(int backlog) {
        return new AcceptLimits(HALF_OPEN, REQUEST_NANOS, backlog);
    }
}
