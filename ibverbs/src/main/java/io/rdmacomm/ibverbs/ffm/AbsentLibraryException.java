package io.rdmacomm.ibverbs.ffm;

import java.io.Serial;

/// A library cannot be used on this machine; [#reason()] explains why and gives advice.
public final class AbsentLibraryException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String reason;

    AbsentLibraryException(String reason) {
        super(reason);
        this.reason = reason;
    }

    /// One line for the user.
    public String reason() {
        return reason;
    }
}
