package io.rdmacomm.mesh;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A node has died or aborted, or the connection to it has failed, so the mesh has ended on all nodes. All of them name
/// the
/// same rank, unless two nodes failed at the same time.
public final class NodeFailedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int rank;

    NodeFailedException(int rank, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.rank = rank;
    }

    /// The node that has failed, not one that ended because of it. It is this one if another node has lost the
    /// connection to it.
    public int rank() {
        return rank;
    }

    /// The same failure with the stack of the calling thread.
    NodeFailedException again() {
        return new NodeFailedException(rank, String.valueOf(getMessage()), this);
    }
}
