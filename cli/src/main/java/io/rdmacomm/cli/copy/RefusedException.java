package io.rdmacomm.cli.copy;

import java.io.Serial;

/// A file is not taken; the message says why, without its name.
final class RefusedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    RefusedException(String reason) {
        super(reason);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
