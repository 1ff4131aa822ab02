package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.datagram.DatagramPort;
import io.rdmacomm.soft.datagram.DatagramReceiver;
import io.rdmacomm.soft.datagram.DatagramSender;
import io.rdmacomm.soft.datagram.IncomingDatagram;
import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.soft.transport.SendCompleter;
import io.rdmacomm.soft.transport.SendQueue;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A queue pair for datagrams. The posting thread sends them; the engine of the receiving context delivers them, so
/// that no process touches the memory of another. All memory of requests is used under one of the two locks.
final class SoftDatagramQueuePair extends QueuePair implements ContextQueuePair, DatagramPort.Target {
    private static final int LEAST_INLINE = 64;
    private static final int SUCCESS = 0;
    private static final int FLUSHED = WorkStatus.FLUSHED.code();

    private final SoftContext context;
    private final int number;
    private final QueueSizes sizes;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final ReceiveQueue receives;
    private final SendQueue sends;
    private final DatagramSender sender;
    private final DatagramReceiver receiver;
    private volatile int queueKey;

    SoftDatagramQueuePair(SoftProtectionDomain domain, QueuePairOptions options, int number) throws IOException {
        super(domain, options.withSingleThreaded(false)); // the engine uses it, too
        this.context = domain.softContext();
        this.number = number;
        QueueSizes asked = options.sizes();
        this.sizes = asked.withInline(Math.max(asked.inlineBytes(), LEAST_INLINE));
        this.sendCompletions = (SoftCompletionQueue) options.sendCompletions();
        this.receiveCompletions = (SoftCompletionQueue) options.receiveCompletions();
        context.openDatagramPort();
        LocalElements elements = new LocalElements(context.memory(), domain.number());
        this.sender = context.datagramSender(number, domain.number(), elements);
        SharedReceiveQueue shared = options.sharedReceives();
        this.receives =
                new ReceiveQueue(ring(domain, asked, shared), shared != null, receiveCompletions.receives(), number);
        this.sends =
                new SendQueue(sizes, elements, new SendCompleter(sendCompletions.sends(), number, options.signalAll()));
        this.receiver = new DatagramReceiver(context.memory(), number, receives, context.objects()::onLimit);
        context.objects().add(this);
    }

    private ReceiveRing ring(SoftProtectionDomain domain, QueueSizes asked, @Nullable SharedReceiveQueue shared)
            throws IOException {
        if (shared instanceof SoftSharedReceiveQueue queue) {
            return queue.ring();
        }
        try {
            return ReceiveRing.create(context.control(), asked.receives(), asked.receiveElements(), 0, domain.number());
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
    protected QueueSizes doSizes() {
        return sizes;
    }

    // ---- Sending ----

    @Override
    protected int doPost(SendBatch batch, int first, int count) {
        int end = first + count;
        if (state() == QueuePairState.ERROR || state() == QueuePairState.SEND_QUEUE_ERROR) {
            sends.flush(batch, first, end);
            return count;
        }
        if (!sends.isOpen()) {
            return sends.add(batch, first, end) - first;
        }
        for (int next = first; next < end; next++) {
            if (!send(batch.segment(), batch.at(next))) {
                sends.flush(batch, next + 1, end);
                return count;
            }
        }
        return count;
    }

    /// Sends one datagram and completes its request. If that fails, only sends end: the queue pair can go on with
    /// receives, and with sends after a change to READY_TO_SEND.
    private boolean send(MemorySegment request, long at) {
        int status = sender.send(request, at, queueKey);
        if (status == SUCCESS) {
            sends.completer().succeed(request, at, sender.bytes());
            return true;
        }
        sends.completer().fail(request.get(JAVA_LONG, at + SendRequestLayout.WORK_ID), status, 0);
        enter(QueuePairState.SEND_QUEUE_ERROR);
        return false;
    }

    /// Sends what waited in SEND_QUEUE_DRAIN.
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
    protected int doPost(ReceiveBatch batch, int first, int count) {
        if (state() == QueuePairState.ERROR) {
            receives.flush(batch, first, count);
            return count;
        }
        return receives.post(batch, first, count);
    }

    @Override
    public void arrived(IncomingDatagram datagram) {
        if (datagram.queueKey() != queueKey) {
            return;
        }
        int status = SUCCESS;
        receiveLock().lock();
        try {
            if (isReceiving()) {
                status = receiver.deliver(datagram);
            }
        } finally {
            receiveLock().unlock();
        }
        if (status != SUCCESS) {
            failLocally(AsyncEventType.UNKNOWN);
        }
    }

    private boolean isReceiving() {
        return isOpen()
                && switch (state()) {
                    case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAIN, SEND_QUEUE_ERROR -> true;
                    case RESET, INIT, ERROR -> false;
                };
    }

    // ---- State ----

    @Override
    protected void doModify(
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
                    context.asyncEvents().raise(AsyncEventType.SEND_QUEUE_DRAINED, this);
                }
            }
            case INIT, READY_TO_RECEIVE, SEND_QUEUE_ERROR -> enter(to);
        }
    }

    private void enter(QueuePairState to) {
        entered(to);
        sends.setOpen(to == QueuePairState.READY_TO_SEND);
    }

    /// Under both locks.
    private void fail(AsyncEventType event) {
        enter(QueuePairState.ERROR);
        sends.flush(FLUSHED, 0);
        receives.flush();
        context.asyncEvents().raiseFailure(this, receives.isShared(), event);
    }

    @Override
    public void failLocally(AsyncEventType event) {
        sendLock().lock();
        receiveLock().lock();
        try {
            if (isReceiving()) {
                fail(event);
            }
        } finally {
            receiveLock().unlock();
            sendLock().unlock();
        }
    }

    @Override
    public boolean completesIn(SoftCompletionQueue queue) {
        return queue.equals(sendCompletions) || queue.equals(receiveCompletions);
    }

    /// Whoever uses memory holds one of the locks.
    @Override
    public void awaitExecutions() {
        sendLock().lock();
        receiveLock().lock();
        receiveLock().unlock();
        sendLock().unlock();
    }

    @Override
    protected void doDestroy() {
        entered(QueuePairState.RESET);
        context.objects().remove(this);
        receives.free();
        sends.close();
        sender.close();
        context.objects().numbers().free(number);
    }
}
