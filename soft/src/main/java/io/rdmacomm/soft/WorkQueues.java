package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.transport.ArrivedMessages;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.SendCompleter;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The send queue and the receive queue of a queue pair, connected or for datagrams, and where they complete.
final class WorkQueues {
    private static final int LEAST_INLINE = 64;

    /// Number of the queue pair.
    final int number;
    final QueueSizes sizes;
    final SoftCompletionQueue sendCompletions;
    final SoftCompletionQueue receiveCompletions;
    final RequestQueue sends;
    final ReceiveQueue receives;
    private final QueuePairOwner owner;
    private final SendRequest[] single = {new SendRequest(MemorySegment.NULL, 0, 0)};

    /// @param domain number of the protection domain
    /// @param number of the queue pair
    /// @throws IOException if there is no room
    WorkQueues(SoftContext context, int domain, QueuePairRequest request, int number) throws IOException {
        this.number = number;
        this.owner = request.owner();
        QueueSizes asked = request.sizes();
        this.sizes = asked.withInline(Math.max(asked.inlineBytes(), LEAST_INLINE));
        this.sendCompletions = context.objects().completionQueue(request.sendCompletions());
        this.receiveCompletions = context.objects().completionQueue(request.receiveCompletions());
        SharedReceiveQueueDriver shared = request.sharedReceives();
        ReceiveRing ring = shared == null
                ? ReceiveRing.create(context.control(), asked.receives(), asked.receiveElements(), 0, domain)
                : context.objects().sharedQueue(shared).ring();
        this.receives = new ReceiveQueue(ring, shared != null, receiveCompletions.receives(), context.memory(), number);
        this.sends = new RequestQueue(
                sizes,
                new LocalElements(context.memory(), domain),
                new SendCompleter(sendCompletions.sends(), number, request.signalAll()));
    }

    /// Lets a peer of this host complete receives in lines, if the completion queue can look at those, too; under
    /// both locks.
    void openLines() {
        ArrivedMessages messages = receives.messages();
        if (!receives.isShared() && messages.canOpen() && receiveCompletions.join(messages)) {
            messages.open();
        }
    }

    /// Moves payloads of messages that were not polled to a region; any thread.
    void placeInto(LocalRegion region) {
        receives.completions().whileNotPolled(() -> receives.messages().placeInto(region));
    }

    boolean completeIn(int completionQueue) {
        return completionQueue == sendCompletions.handle() || completionQueue == receiveCompletions.handle();
    }

    /// Posts requests that a wrapper of this device gives in memory, one by one as plain values, as
    /// [QueuePairDriver#postSends(RequestChain, int, int)]. Under the send lock; allocates nothing.
    int postSends(QueuePairDriver queuePair, RequestChain requests, int first, int count) {
        int posted = 0;
        while (posted < count) {
            single[0].read(requests.segment(), requests.at(first + posted));
            if (queuePair.postSends(single, 0, 1) == 0) {
                break;
            }
            posted++;
        }
        return posted;
    }

    /// Posts receives, as [QueuePairDriver#postReceives(RequestChain, int, int)].
    int postReceives(RequestChain batch, int first, int count) {
        if (owner.state() == QueuePairState.ERROR) {
            receives.flush(batch, first, count);
            return count;
        }
        return receives.post(batch, first, count);
    }

    /// Whether new sends are flushed.
    boolean haveSendsFailed() {
        QueuePairState state = owner.state();
        return state == QueuePairState.ERROR || state == QueuePairState.SEND_QUEUE_ERROR;
    }

    /// Whether messages of peers are received.
    boolean isReceiving() {
        return switch (owner.state()) {
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAIN, SEND_QUEUE_ERROR -> owner.isOpen();
            case RESET, INIT, ERROR -> false;
        };
    }

    /// The queue pair has entered a state.
    void entered(QueuePairState to) {
        owner.entered(to);
        sends.setOpen(to == QueuePairState.READY_TO_SEND);
    }

    /// Ends all requests. The sends end before the receives, each queue in posting order (IBTA 10.3.1).
    ///
    /// @param firstStatus of the oldest send; the others are flushed
    void flush(int firstStatus, int vendorError) {
        sends.flush(firstStatus, vendorError);
        receives.flush();
    }

    /// Discards all requests silently.
    void clear() {
        sends.clear();
        receives.completions().whileNotPolled(receives::clear);
    }

    /// The queue pair is closed.
    void leaveCompletions() {
        receiveCompletions.leave(receives.messages());
    }

    /// Frees the memory of the queues.
    void free() {
        receives.free();
        sends.close();
    }
}
