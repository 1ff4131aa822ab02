package io.rdmacomm.nio.rsocket;

import java.io.IOException;
import java.io.Serial;

/// The peer has broken the rules of rsockets. It costs this one connection.
public final class ProtocolException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    ProtocolException(String detail) {
        super(detail);
    }
}
