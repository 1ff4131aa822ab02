package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;

/// A READ ended after its [Lease], so it may have found other content. The connection is not affected: ask the owner
/// of the memory again.
public final class LeaseExpiredException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A lease that is over.
    LeaseExpiredException(String message) {
        super(message, null);
    }
}
