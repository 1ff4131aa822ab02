package io.rdmacomm.verbs.statistics;

import java.io.IOException;
import java.io.Serial;

/// A file is not a counters file of this version, or is damaged.
final class MalformedCountersException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// @param message what is wrong with it
    MalformedCountersException(String message) {
        super(message);
    }
}
