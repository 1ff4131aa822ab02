package io.rdmacomm.soft;

import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequest;
import java.lang.foreign.MemorySegment;

/// Posts requests that a wrapper of this device gives in memory, one by one as plain values. Under the queue pair's
/// send lock; allocates nothing.
final class ChainPosting {
    private final SendRequest[] request = {new SendRequest(MemorySegment.NULL, 0, 0)};
    private final QueuePairDriver queuePair;

    ChainPosting(QueuePairDriver queuePair) {
        this.queuePair = queuePair;
    }

    /// Posts requests, as [QueuePairDriver#postSends(RequestChain, int, int)].
    int post(RequestChain requests, int first, int count) {
        int posted = 0;
        while (posted < count) {
            request[0].read(requests.segment(), requests.at(first + posted));
            if (queuePair.postSends(request, 0, 1) == 0) {
                break;
            }
            posted++;
        }
        return posted;
    }
}
