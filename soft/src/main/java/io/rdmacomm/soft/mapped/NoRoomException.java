package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.io.Serial;

/// A limit other than that of the file system has been reached. The message names it.
final class NoRoomException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String advice;

    NoRoomException(String message, String advice) {
        super(message);
        this.advice = advice;
    }

    /// The remedy.
    String advice() {
        return advice;
    }
}
