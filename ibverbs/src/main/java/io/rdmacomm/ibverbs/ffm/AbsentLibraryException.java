package io.rdmacomm.ibverbs.ffm;

import java.io.Serial;

/// A library cannot be used on this machine; [#reason()] says why and what to do.
public final class AbsentLibraryException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String reason;

    AbsentLibraryException(String reason) {
        super(reason);
        this.reason = reason;
    }

    /// The one line.
    public String reason() {
        return reason;
    }
}
