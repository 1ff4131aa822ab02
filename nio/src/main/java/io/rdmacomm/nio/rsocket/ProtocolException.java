package io.rdmacomm.nio.rsocket;

import java.io.IOException;
import java.io.Serial;

/// The peer has violated the rsocket protocol. Only this connection fails.
public final class ProtocolException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    ProtocolException(String detail) {
        super(detail);
    }
}
