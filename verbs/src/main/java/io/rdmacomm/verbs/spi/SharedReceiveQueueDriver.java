package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;

/// A shared receive queue ([io.rdmacomm.verbs.SharedReceiveQueue]). One thread at a time calls it.
public interface SharedReceiveQueueDriver extends Driver {
    /// The number by which the provider finds it, and that its events carry, never 0: the address of the C struct if
    /// there is one.
    long handle();

    /// Posts receives whose elements were checked (ibv_post_srq_recv(3)). Never blocks, never allocates.
    ///
    /// @return the number of posted receives
    int post(RequestChain receives, int first, int count);

    /// Arms the limit (ibv_modify_srq(3)).
    void armLimit(int limit);

    /// Its size and the armed limit, 0 if none is armed (ibv_query_srq(3)).
    SharedReceiveQueueOptions query();

    /// Changes how many receives it holds (ibv_modify_srq(3)).
    ///
    /// @param mostPosted an upper limit of the posted receives; a driver whose device knows the number uses that
    ///         number
    /// @return 0, or, if more than `receives` are posted, their number; then nothing has changed
    default long resize(int receives, long mostPosted) {
        throw Unsupported.verb(
                this, "modify shared receive queue (ibv_modify_srq)", Capability.RESIZE_SHARED_RECEIVE_QUEUE);
    }
}
