package io.rdmacomm.cli.copy;

import java.io.Serial;

/// The receiver does not accept a file. The message is the reason, without the name of the file.
final class RejectedFileException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    RejectedFileException(String reason) {
        super(reason);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
