package io.rdmacomm.soft.cm;

import java.io.IOException;
import java.io.Serial;

/// The responder has rejected the connection.
public final class MpaRejectedException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final byte[] privateData;

    MpaRejectedException(byte[] privateData) {
        super("the peer rejected the connection");
        this.privateData = privateData.clone();
    }

    /// The private data of the rejection.
    public byte[] privateData() {
        return privateData.clone();
    }
}
