package io.rdmacomm.mesh.collective;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// Two ranks of a mesh have called different collectives, or the same one with different arguments, or they
/// have different [CollectiveOptions]. The message names both ranks, and what they called or which options
/// they have. The collectives of the mesh have ended on all ranks.
public final class CollectiveMismatchException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public CollectiveMismatchException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
