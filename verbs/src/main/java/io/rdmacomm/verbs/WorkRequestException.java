package io.rdmacomm.verbs;

import java.io.Serial;

/// A work request of a batch is malformed. The requests before [#index()] were posted and will complete; this one
/// and those after it were not (the `bad_wr` of ibv_post_send(3) and ibv_post_recv(3)).
public final class WorkRequestException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int index;

    WorkRequestException(String operation, int index, String detail) {
        super(operation, Errno.EINVAL, "work request " + index + " of the batch: " + detail);
        this.index = index;
    }

    /// The position in the batch of the first request that was not posted.
    public int index() {
        return index;
    }
}
