package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ReceiveMemory;
import io.rdmacomm.comm.data.SharedReceivePool;
import io.rdmacomm.comm.statistics.SharedReceiveStatistics;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.service.Closer;

/// The receives that the data channels of a session share.
final class SessionReceives implements AutoCloseable {
    private final SharedReceives shared;
    private final int messageBytes;
    private final RdmaBuffer memory;
    private final SharedReceivePool pool;
    private final Message[] messages;

    /// @param memory for messages of at most `messageBytes`
    SessionReceives(ProtectionDomain domain, SharedReceives shared, int messageBytes, RdmaBuffer memory) {
        this.shared = shared;
        this.messageBytes = messageBytes;
        this.memory = memory;
        this.pool = new SharedReceivePool(
                domain,
                new ReceiveMemory(memory.region(), 0, shared.receives(), messageBytes),
                shared.receives(),
                shared.channels(),
                shared.guaranteed());
        this.messages = Message.in(pool);
    }

    /// The memory that `shared` needs.
    static long bytes(SharedReceives shared, int messageBytes) {
        return ReceiveMemory.bytes(shared.receives(), messageBytes);
    }

    /// The pool itself.
    SharedReceivePool pool() {
        return pool;
    }

    /// The receives that the messages of a channel arrive in.
    ///
    /// @throws IllegalArgumentException if it needs longer messages or fewer receives than the pool has
    MessageReceives messageReceives(ChannelOptions channel) {
        if (channel.messageBytes() > messageBytes) {
            throw new IllegalArgumentException(
                    "the channel has messages of " + channel.messageBytes() + " bytes, the shared receives are for "
                            + messageBytes + "; set them in SessionOptions.withChannel");
        }
        if (channel.receives() < shared.guaranteed()) {
            throw new IllegalArgumentException("the channel may have " + channel.receives() + " receives, but "
                    + shared.guaranteed() + " are guaranteed; raise ChannelOptions.receives");
        }
        return new MessageReceives(pool.source(channel.receives()), _ -> messages);
    }

    SharedReceiveStatistics statistics() {
        return pool.statistics();
    }

    /// Frees everything; the endpoints are closed by now.
    @Override
    public void close() {
        Closer.step("shared receives", pool::close);
        Closer.step("memory of shared receives", memory::close);
    }
}
