package io.rdmacomm.soft.cm;

import java.io.IOException;
import java.io.Serial;

/// The responder refused.
public final class MpaRejectedException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final byte[] privateData;

    MpaRejectedException(byte[] privateData) {
        super("the peer refused the connection");
        this.privateData = privateData.clone();
    }

    /// What the responder said about it.
    public byte[] privateData() {
        return privateData.clone();
    }
}
