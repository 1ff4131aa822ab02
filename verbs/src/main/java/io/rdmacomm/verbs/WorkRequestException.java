package io.rdmacomm.verbs;

import java.io.Serial;

/// A work request of a batch does not fit the queue pair, or the device rejected it. The requests before
/// [#index()] were posted and will complete; this request and those after it were not posted (the `bad_wr` of
/// ibv_post_send(3) and ibv_post_recv(3)).
public final class WorkRequestException extends VerbException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int index;

    WorkRequestException(String operation, int index, String detail) {
        this(operation, Errno.EINVAL, index, detail);
    }

    static WorkRequestException tooManyElements(String operation, int index, int allowed) {
        return new WorkRequestException(operation, index, "more than " + allowed + " scatter/gather elements");
    }

    /// For providers.
    ///
    /// @param operation the call in words, with its C name
    /// @param errno the errno of the rejection
    /// @param index the index in the batch of the first request that was not posted
    /// @param detail what is wrong with it
    public WorkRequestException(String operation, Errno errno, int index, String detail) {
        super(operation, errno, "work request " + index + " of the batch: " + detail);
        this.index = index;
    }

    /// The index in the batch of the first request that was not posted.
    public int index() {
        return index;
    }
}
