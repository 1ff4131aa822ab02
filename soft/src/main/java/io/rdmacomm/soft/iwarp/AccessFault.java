package io.rdmacomm.soft.iwarp;

/// What is wrong with remote memory that a peer named, and how the peer is told: a Write is refused where it is
/// placed, by DDP, anything else where it is read, by RDMAP (RFC 5040 7.1, RFC 5041 7). DDP knows no rights.
public enum AccessFault {
    /// There is no such key.
    INVALID_KEY(TerminateCode.TAGGED_INVALID_KEY, TerminateCode.INVALID_KEY),
    /// The range is not inside the memory.
    OUT_OF_BOUNDS(TerminateCode.TAGGED_OUT_OF_BOUNDS, TerminateCode.OUT_OF_BOUNDS),
    /// The memory does not have the right.
    MISSING_RIGHT(TerminateCode.MISSING_RIGHT, TerminateCode.MISSING_RIGHT),
    /// The memory belongs to another protection domain, or a window to another queue pair.
    OTHER_DOMAIN(TerminateCode.TAGGED_OTHER_DOMAIN, TerminateCode.OTHER_DOMAIN);

    private final TerminateCode placing;
    private final TerminateCode reading;

    AccessFault(TerminateCode placing, TerminateCode reading) {
        this.placing = placing;
        this.reading = reading;
    }

    /// What answers a Write, or a Read Response that nobody asked for.
    public TerminateCode placing() {
        return placing;
    }

    /// What answers a Read Request or an Atomic Request.
    public TerminateCode reading() {
        return reading;
    }
}
