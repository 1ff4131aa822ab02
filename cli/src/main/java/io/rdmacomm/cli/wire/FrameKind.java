package io.rdmacomm.cli.wire;

import java.util.Optional;

/// What a [Frame] means in one protocol; each protocol has an enum of its own.
public interface FrameKind {
    /// The number on the wire.
    int code();

    /// The kind whose number a peer sent; empty if there is none.
    static <K extends FrameKind> Optional<K> of(K[] kinds, int code) {
        for (K kind : kinds) {
            if (kind.code() == code) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }
}
