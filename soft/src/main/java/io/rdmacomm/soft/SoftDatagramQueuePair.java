package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.datagram.DatagramReceiver;
import io.rdmacomm.soft.datagram.DatagramSender;
import io.rdmacomm.soft.mapped.HostError;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.RequestQueue;
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
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// A queue pair for datagrams. The posting thread sends them; the engine of the receiving context delivers them, so
/// that no process touches the memory of another. Any use of a request's memory holds one of the two locks.
final class SoftDatagramQueuePair implements QueuePairDriver, ContextQueuePair, IncomingDatagram.Target {
    private static final int SUCCESS = 0;
    private static final int FLUSHED = WorkStatus.FLUSHED.code();

    private final SoftContext context;
    private final QueuePairOwner owner;
    private final int number;
    private final WorkQueues queues;
    private final RequestQueue sends;
    private final DatagramSender sender;
    private final DatagramReceiver receiver;
    private volatile int queueKey;

    /// @param domain number of its protection domain
    SoftDatagramQueuePair(SoftContext context, int domain, QueuePairRequest request, WorkQueues queues)
            throws IOException {
        this.context = context;
        this.owner = request.owner();
        this.queues = queues;
        this.number = queues.number;
        this.sends = queues.sends;
        this.sender = new DatagramSender(
                context.network().openDatagrams(number), domain, sends.localElements(), context.addressHandles()::find);
        this.receiver = new DatagramReceiver(context.memory(), number, queues.receives, context.objects()::onLimit);
        context.objects().add(this);
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueueSizes sizes() {
        return queues.sizes;
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
        if (queues.haveSendsFailed()) {
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
        return queues.postSends(this, requests, first, count);
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
        queues.entered(QueuePairState.SEND_QUEUE_ERROR);
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
        return queues.postReceives(batch, first, count);
    }

    @Override
    public void arrived(IncomingDatagram datagram) {
        if (datagram.queueKey != queueKey) {
            return;
        }
        int status = SUCCESS;
        owner.lockReceives();
        try {
            if (queues.isReceiving()) {
                status = receiver.deliver(datagram);
            }
        } finally {
            owner.unlockReceives();
        }
        if (status != SUCCESS) {
            failLocally(AsyncEventType.UNKNOWN);
        }
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
                queues.entered(to);
                queues.clear();
            }
            case ERROR -> {
                if (from != QueuePairState.ERROR) {
                    fail(AsyncEventType.UNKNOWN);
                }
            }
            case READY_TO_SEND -> {
                queues.entered(to);
                resume();
            }
            case SEND_QUEUE_DRAIN -> {
                queues.entered(to);
                if (from != to && change.drainNotification()) {
                    context.asyncEvents().raise(AsyncEventType.SEND_QUEUE_DRAINED, number);
                }
            }
            case INIT, READY_TO_RECEIVE, SEND_QUEUE_ERROR -> queues.entered(to);
        }
    }

    /// Under both locks.
    private void fail(AsyncEventType event) {
        queues.entered(QueuePairState.ERROR);
        queues.flush(FLUSHED, 0);
        context.asyncEvents().raiseFailure(number, queues.receives.isShared(), event);
    }

    @Override
    public void failLocally(AsyncEventType event) {
        owner.lockSends();
        owner.lockReceives();
        try {
            if (queues.isReceiving()) {
                fail(event);
            }
        } finally {
            owner.unlockReceives();
            owner.unlockSends();
        }
    }

    @Override
    public boolean completesIn(int completionQueue) {
        return queues.completeIn(completionQueue);
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
        queues.free();
        sender.close();
        context.freeNumber(number);
    }

    @Override
    public String toString() {
        return owner.toString();
    }
}
