package io.rdmacomm.verbs.counters;

import java.io.IOException;
import java.io.Serial;

/// A file is not a counters file of this version, or is damaged.
public final class MalformedCountersException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// @param message what is wrong with it
    MalformedCountersException(String message) {
        super(message);
    }
}
