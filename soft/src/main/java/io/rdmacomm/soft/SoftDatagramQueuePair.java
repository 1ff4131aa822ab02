package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.datagram.DatagramReceiver;
import io.rdmacomm.soft.datagram.DatagramSender;
import io.rdmacomm.soft.mapped.HostError;
import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.SendCompleter;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// A queue pair for datagrams. The posting thread sends them; the engine of the receiving context delivers them, so
/// that no process touches the memory of another. Any use of a request's memory holds one of the two locks.
final class SoftDatagramQueuePair implements QueuePairDriver, ContextQueuePair, IncomingDatagram.Target {
    private static final int LEAST_INLINE = 64;
    private static final int SUCCESS = 0;
    private static final int FLUSHED = WorkStatus.FLUSHED.code();

    private final SoftContext context;
    private final QueuePairOwner owner;
    private final ChainPosting chains = new ChainPosting(this);
    private final int number;
    private final QueueSizes sizes;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final ReceiveQueue receives;
    private final RequestQueue sends;
    private final DatagramSender sender;
    private final DatagramReceiver receiver;
    private volatile int queueKey;

    /// @param domain number of its protection domain
    SoftDatagramQueuePair(SoftContext context, int domain, QueuePairRequest request, int number) throws IOException {
        this.context = context;
        this.owner = request.owner();
        this.number = number;
        QueueSizes asked = request.sizes();
        this.sizes = asked.withInline(Math.max(asked.inlineBytes(), LEAST_INLINE));
        this.sendCompletions = context.objects().completionQueue(request.sendCompletions());
        this.receiveCompletions = context.objects().completionQueue(request.receiveCompletions());
        SharedReceiveQueueDriver shared = request.sharedReceives();
        ReceiveRing sharedRing =
                shared == null ? null : context.objects().sharedQueue(shared).ring();
        LocalElements elements = new LocalElements(context.memory(), domain);
        this.sender = new DatagramSender(
                context.network().openDatagrams(number), domain, elements, context.addressHandles()::find);
        ReceiveRing ring = sharedRing == null ? ownRing(domain, asked) : sharedRing;
        this.receives = new ReceiveQueue(ring, shared != null, receiveCompletions.receives(), number);
        this.sends = new RequestQueue(
                sizes, elements, new SendCompleter(sendCompletions.sends(), number, request.signalAll()));
        this.receiver = new DatagramReceiver(context.memory(), number, receives, context.objects()::onLimit);
        context.objects().add(this);
    }

    private ReceiveRing ownRing(int domain, QueueSizes asked) throws IOException {
        try {
            return ReceiveRing.create(context.control(), asked.receives(), asked.receiveElements(), 0, domain);
        } catch (IOException e) {
            sender.close();
            throw e;
        }
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueueSizes sizes() {
        return sizes;
    }

    /// True: the engine delivers datagrams.
    @Override
    public boolean hasThreads() {
        return true;
    }

    @Override
    public IncomingDatagram.Target datagrams() {
        return this;
    }

    // ---- Sending ----

    @Override
    public int postSends(SendRequest[] requests, int first, int count) {
        int end = first + count;
        QueuePairState state = owner.state();
        if (state == QueuePairState.ERROR || state == QueuePairState.SEND_QUEUE_ERROR) {
            sends.flush(requests, first, end);
            return count;
        }
        if (!sends.isOpen()) {
            return sends.add(requests, first, end) - first;
        }
        for (int next = first; next < end; next++) {
            if (!send(requests[next].inMemory(), requests[next].at())) {
                sends.flush(requests, next + 1, end);
                return count;
            }
        }
        return count;
    }

    @Override
    public int postSends(RequestChain requests, int first, int count) {
        return chains.post(requests, first, count);
    }

    /// Sends one datagram and completes its request. If that fails, only sends end: the queue pair can continue with
    /// receives, and with sends after a change to READY_TO_SEND.
    private boolean send(MemorySegment request, long at) {
        int status = sender.send(request, at, queueKey);
        if (status == SUCCESS) {
            sends.completer().succeed(request, at);
            return true;
        }
        sends.completer().fail(request.get(JAVA_LONG, at + SendRequestLayout.WORK_ID), status, 0);
        enter(QueuePairState.SEND_QUEUE_ERROR);
        return false;
    }

    /// Sends the requests that waited in SEND_QUEUE_DRAIN.
    private void resume() {
        while (!sends.isEmpty()) {
            boolean sent = send(sends.segment(), sends.headAt());
            sends.removeHead();
            if (!sent) {
                sends.flush(FLUSHED, 0);
            }
        }
    }

    // ---- Receiving ----

    @Override
    public int postReceives(RequestChain batch, int first, int count) {
        if (owner.state() == QueuePairState.ERROR) {
            receives.flush(batch, first, count);
            return count;
        }
        return receives.post(batch, first, count);
    }

    @Override
    public void arrived(IncomingDatagram datagram) {
        if (datagram.queueKey != queueKey) {
            return;
        }
        int status = SUCCESS;
        owner.lockReceives();
        try {
            if (isReceiving()) {
                status = receiver.deliver(datagram);
            }
        } finally {
            owner.unlockReceives();
        }
        if (status != SUCCESS) {
            failLocally(AsyncEventType.UNKNOWN);
        }
    }

    private boolean isReceiving() {
        return switch (owner.state()) {
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAIN, SEND_QUEUE_ERROR -> owner.isOpen();
            case RESET, INIT, ERROR -> false;
        };
    }

    @Override
    public void attach(Gid group, int lid) {
        String operation = "attach queue pair to multicast group (ibv_attach_mcast)";
        context.checkWorks(operation);
        try {
            context.network().attach(operation, group, this);
        } catch (IOException e) {
            throw HostError.of(e, Errno.ENOMEM).failure(operation, this + " cannot receive from " + group, e);
        }
    }

    @Override
    public void detach(Gid group, int lid) {
        try {
            context.network().detach(group, this);
        } catch (IOException e) {
            throw new VerbException(
                    "detach queue pair from multicast group (ibv_detach_mcast)",
                    Errno.EIO,
                    this + ": the socket of " + group + " cannot be closed",
                    e);
        }
    }

    // ---- State ----

    @Override
    public void modify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
        context.checkChange(this, to, change);
        queueKey = effective.queueKey();
        switch (to) {
            case RESET -> {
                enter(to);
                sends.clear();
                receives.clear();
            }
            case ERROR -> {
                if (from != QueuePairState.ERROR) {
                    fail(AsyncEventType.UNKNOWN);
                }
            }
            case READY_TO_SEND -> {
                enter(to);
                resume();
            }
            case SEND_QUEUE_DRAIN -> {
                enter(to);
                if (from != to && change.drainNotification()) {
                    context.asyncEvents().raise(AsyncEventType.SEND_QUEUE_DRAINED, number);
                }
            }
            case INIT, READY_TO_RECEIVE, SEND_QUEUE_ERROR -> enter(to);
        }
    }

    private void enter(QueuePairState to) {
        owner.entered(to);
        sends.setOpen(to == QueuePairState.READY_TO_SEND);
    }

    /// Under both locks.
    private void fail(AsyncEventType event) {
        enter(QueuePairState.ERROR);
        sends.flush(FLUSHED, 0);
        receives.flush();
        context.asyncEvents().raiseFailure(number, receives.isShared(), event);
    }

    @Override
    public void failLocally(AsyncEventType event) {
        owner.lockSends();
        owner.lockReceives();
        try {
            if (isReceiving()) {
                fail(event);
            }
        } finally {
            owner.unlockReceives();
            owner.unlockSends();
        }
    }

    @Override
    public boolean completesIn(int completionQueue) {
        return completionQueue == sendCompletions.handle() || completionQueue == receiveCompletions.handle();
    }

    /// Takes both locks, one of which a thread holds while it uses memory.
    @Override
    public void awaitExecutions() {
        owner.lockSends();
        owner.lockReceives();
        owner.unlockReceives();
        owner.unlockSends();
    }

    @Override
    public void close() {
        context.objects().remove(this);
        receives.free();
        sends.close();
        sender.close();
        context.freeNumber(number);
    }

    @Override
    public String toString() {
        return owner.toString();
    }
}
