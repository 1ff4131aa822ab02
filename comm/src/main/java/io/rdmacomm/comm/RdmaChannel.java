package io.rdmacomm.comm;

import io.rdmacomm.comm.PeerFailedException.Reason;
import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.ChannelEvents;
import io.rdmacomm.comm.data.ChannelInfo;
import io.rdmacomm.comm.data.ChannelMemory;
import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.comm.data.PreparedOperations;
import io.rdmacomm.comm.data.RdmaAdapter;
import io.rdmacomm.comm.data.ReceivePool;
import io.rdmacomm.comm.data.SendQueue;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.setup.QueuePairConnector;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One connection of an endpoint: messages, one-sided operations on the peer's memory, atomics. Thread-safe;
/// the operations of one thread start in the order of its calls.
///
/// Every operation comes in three forms: here as a non-blocking `try` method with a handler, which allocates
/// nothing; as a future in [#async()]; as a blocking call in [#blocking()].
///
/// A `try` method returns whether the operation was accepted, and if not, why: [Admission]. An accepted
/// operation ends exactly once and then calls its handler; the operations of one channel end in order. An
/// operation owns its memory until it has ended.
///
/// ```java
/// while (!channel.tryWrite(slice, remote, 0, handler, context).isAccepted()) {
///     channel.checkOpen();
///     channel.poll();
/// }
/// ```
///
/// All `try` methods throw [IndexOutOfBoundsException] if a range is not within the remote buffer, and
/// [IllegalArgumentException] if a buffer belongs to another session or endpoint, or lacks the access right
/// that the operation needs.
public final class RdmaChannel {
    private final String name;
    private final int index;
    private final ChannelOptions options;
    private final Duration timeout;
    private final EndPointEvents events;
    private final Arena arena;
    private final RdmaAdapter<CompletionHandler> adapter;
    private final SendQueue<CompletionHandler> sends;
    private final SendGate gate;
    private final Inbox<MessageHandler> inbox;
    private final MessageReceives messageReceives;
    private final SendCopies copies;
    private final Operation scratch;
    private OperationChecks checks;
    private int peerReceives = 1;
    private volatile int vendorError;

    /// @param checks for the operations, until it is connected
    /// @param group receives its completions
    /// @param memory for its cells
    /// @param messageReceives the receives that messages arrive in
    /// @param copies the memory for messages that are sent without a buffer
    /// @param arena lives as long as the channel
    /// @param timeout the timeout of blocking calls and futures that specify none
    RdmaChannel(
            String name,
            int index,
            ChannelOptions options,
            OperationChecks checks,
            CompletionGroup group,
            ChannelMemory memory,
            MessageReceives messageReceives,
            SendCopies copies,
            Arena arena,
            Duration timeout,
            EndPointEvents events) {
        this.name = name;
        this.index = index;
        this.options = options;
        this.checks = checks;
        this.arena = arena;
        this.timeout = timeout;
        this.events = events;
        this.adapter = new RdmaAdapter<>(
                name,
                group,
                checks.domain(),
                options.sizes(),
                memory,
                messageReceives.source(),
                arena,
                new AdapterEvents());
        this.sends = adapter.sends();
        this.scratch = sends.newOperation();
        this.gate = new SendGate(name, adapter, arena, options.sendWindow());
        this.inbox = new Inbox<>(options.receives());
        this.messageReceives = messageReceives;
        this.copies = copies;
    }

    /// Its name in messages.
    public String name() {
        return name;
    }

    /// Its number among the data channels of its endpoint, counted from 0.
    public int index() {
        return index;
    }

    /// Its options.
    public ChannelOptions options() {
        return options;
    }

    /// The longest message that the peer can receive, in bytes.
    public int maxMessageBytes() {
        return checks.maxMessage();
    }

    /// The most slices that one [Read] may fill: 4, or fewer if the device allows fewer, as siw does, which allows
    /// one.
    public int maxReadTargets() {
        return checks.maxReadTargets();
    }

    /// Sends a message.
    ///
    /// @param message at most [#maxMessageBytes()]
    /// @param handler called when the operation has ended
    /// @param context passed to the handler
    /// @return ACCEPTED, or the reason why it was not accepted
    public Admission trySend(BufferSlice message, CompletionHandler handler, long context) {
        sends.lock().lock();
        try {
            return gate.isOpen() ? gate.start(checks.send(scratch, message), handler, context) : Admission.CLOSED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// Sends a message with a 32-bit tag; see [#trySend(BufferSlice, CompletionHandler, long)].
    public Admission trySend(BufferSlice message, int tag, CompletionHandler handler, long context) {
        sends.lock().lock();
        try {
            return gate.isOpen() ? gate.start(checks.send(scratch, message, tag), handler, context) : Admission.CLOSED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// Writes into the peer's memory.
    ///
    /// @param from what to write
    /// @param to where to write it
    /// @param offset where in `to` to begin, in bytes
    /// @param handler called when the operation has ended
    /// @param context passed to the handler
    /// @return ACCEPTED, or the reason why it was not accepted
    public Admission tryWrite(BufferSlice from, RemoteBuffer to, long offset, CompletionHandler handler, long context) {
        sends.lock().lock();
        try {
            return gate.isOpen()
                    ? gate.start(checks.write(scratch, from, to, offset), handler, context)
                    : Admission.CLOSED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// Writes into the peer's memory and then sends the peer a notice with a tag, which its [MessageHandler]
    /// receives and which counts as a message; see [#tryWrite].
    public Admission tryWriteNotify(
            BufferSlice from, RemoteBuffer to, long offset, int tag, CompletionHandler handler, long context) {
        sends.lock().lock();
        try {
            return gate.isOpen()
                    ? gate.start(checks.writeNotify(scratch, from, to, offset, tag), handler, context)
                    : Admission.CLOSED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// Reads from the peer's memory.
    ///
    /// @param into where to put it
    /// @param from what to read
    /// @param offset where in `from` to begin, in bytes
    /// @param handler called when the operation has ended
    /// @param context passed to the handler
    /// @return ACCEPTED, or the reason why it was not accepted
    public Admission tryRead(
            BufferSlice into, RemoteBuffer from, long offset, CompletionHandler handler, long context) {
        sends.lock().lock();
        try {
            return gate.isOpen()
                    ? gate.start(checks.read(scratch, into, from, offset), handler, context)
                    : Admission.CLOSED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// Reads several ranges of the peer's memory as one operation, with at most one doorbell and one completion: all of
    /// them start, or none. Allocates nothing if the addresses of the targets ascend.
    ///
    /// @param reads at least one, at most the send window, with targets that do not overlap
    /// @param handler called once, when all have ended. If one fails, the status is its status or FLUSHED
    /// @param context passed to the handler
    /// @return ACCEPTED, or the reason why they were not accepted
    /// @throws IllegalArgumentException if there are none or too many, if targets overlap, or if a read has more of
    ///         them than [#maxReadTargets()]
    public Admission tryRead(List<Read> reads, CompletionHandler handler, long context) {
        sends.lock().lock();
        try {
            return gate.isOpen() ? gate.start(reads, checks, handler, context) : Admission.CLOSED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// Atomically replaces 8 bytes of the peer's memory with `value` if they are equal to `expected`. The handler's
    /// result is the old value.
    ///
    /// @param in the peer's memory
    /// @param offset the offset in it, in bytes; the address must be a multiple of 8
    /// @return ACCEPTED, or the reason why it was not accepted
    public Admission tryCompareAndSwap(
            RemoteBuffer in, long offset, long expected, long value, CompletionHandler handler, long context) {
        sends.lock().lock();
        try {
            return gate.isOpen()
                    ? gate.start(checks.compareAndSwap(scratch, in, offset, expected, value), handler, context)
                    : Admission.CLOSED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// Atomically adds to 8 bytes of the peer's memory. The handler's result is the old value.
    ///
    /// @param in the peer's memory
    /// @param offset the offset in it, in bytes; the address must be a multiple of 8
    /// @return ACCEPTED, or the reason why it was not accepted
    public Admission tryFetchAndAdd(
            RemoteBuffer in, long offset, long addend, CompletionHandler handler, long context) {
        sends.lock().lock();
        try {
            return gate.isOpen()
                    ? gate.start(checks.fetchAndAdd(scratch, in, offset, addend), handler, context)
                    : Admission.CLOSED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// A batch of up to `capacity` operations that are started together, with at most one doorbell and one
    /// completion.
    ///
    /// @param capacity 1 to the send window
    public ChannelBatch batch(int capacity) {
        Bounds.range("capacity of a batch", capacity, 1, options.sendWindow());
        // The peer always has receives for these, whatever it does with earlier messages.
        int mostSends = peerReceives - ReceivePool.together(peerReceives) + 1;
        return new ChannelBatch(gate, checks, new PreparedOperations<>(arena, capacity, 1, sends), mostSends);
    }

    /// Passes all messages and notices to a handler, first those that have arrived already. With null, the
    /// default, they are queued for [#tryReceive()] and its other forms.
    public void onMessage(@Nullable MessageHandler handler) {
        inbox.handler(handler);
        adapter.attention();
    }

    /// Takes the oldest message or notice that has arrived, if there is no handler for them. Never blocks. Does not
    /// poll. The caller closes the message; the next message in its memory needs a new [Message].
    ///
    /// @return the message, or null if there is none
    /// @throws PeerDoneException if there is none and the peer has closed its side in an orderly way
    /// @throws ClosedException if there is none and the channel is closed or has failed
    public @Nullable Message tryReceive() {
        Message message = inbox.handler() == null ? inbox.take() : null;
        if (message == null) {
            inbox.checkOpen();
        }
        return message;
    }

    /// The same operations as futures, which are queued no longer than the operation deadline.
    public AsyncChannel async() {
        return async(timeout);
    }

    /// The same operations as futures, which are queued no longer than `timeout`.
    public AsyncChannel async(Duration timeout) {
        return new AsyncChannel(gate, sends, inbox, checks, copies, Bounds.timeout("timeout", timeout));
    }

    /// The same operations as calls that block no longer than the operation deadline.
    public BlockingChannel blocking() {
        return blocking(timeout);
    }

    /// The same operations as calls that block no longer than `timeout`.
    public BlockingChannel blocking(Duration timeout) {
        return new BlockingChannel(name, gate, adapter, inbox, checks, copies, Bounds.timeout("timeout", timeout));
    }

    /// In thread mode CALLER, makes progress and runs handlers, including those of channels that share its
    /// completion queue. In the other modes library threads do that, and this returns 0. Never blocks, never
    /// allocates. Called in a handler, or while another thread polls, it returns 0.
    ///
    /// @return the number of completions
    public int poll() {
        return adapter.group().isCallerDriven() ? adapter.group().poll() : 0;
    }

    /// Operations that were accepted and have not ended.
    public int inFlight() {
        return sends.inFlight();
    }

    /// Returns whether operations are accepted: the endpoint is not closing, closed or failed, and the peer is
    /// not done.
    public boolean isOpen() {
        return gate.isOpen();
    }

    /// Throws if operations are no longer accepted; for loops around the `try` methods.
    ///
    /// @throws PeerDoneException if the peer has closed its side in an orderly way
    /// @throws ClosedException if this side was closed or has failed; after a failure the cause says why
    public void checkOpen() {
        gate.checkOpen();
    }

    /// The current counters.
    public ChannelStatistics statistics() {
        return adapter.counters().statistics();
    }

    /// The number of messages that were received or retained and are not closed. On any thread.
    int unclosed() {
        return inbox.unclosed(adapter::holds);
    }

    /// The lower half, for the endpoint.
    RdmaAdapter<CompletionHandler> adapter() {
        return adapter;
    }

    /// Brings the queue pair up. Operations are rejected until [#open()].
    ///
    /// @param poll starts polling for its completions
    void connect(ChannelInfo peer, QueuePairConnector connector, Runnable poll) {
        peerReceives = peer.receives();
        checks = checks.withMaxMessage(peer.messageBytes());
        adapter.connect(
                peer,
                options.connection(),
                connector.sendsFirst(),
                how -> connector.connect(adapter.queuePair(), peer.queuePair(), how, () -> {
                    poll.run();
                    inbox.provide(messageReceives.messages().apply(adapter.receives()));
                    adapter.postReceives();
                }));
    }

    /// Lets operations start.
    void open() {
        gate.open();
    }

    /// Rejects new operations, because one of the two sides is done. Operations that have started continue.
    void refuse(ClosedException refusal) {
        gate.refuse(refusal);
        sends.endCredits();
    }

    /// Fails waiting receivers once all messages that have arrived were received.
    void endMessages(ClosedException why) {
        CompletionGroup group = adapter.group();
        group.submit(() -> {
            group.drain();
            inbox.end(why);
        });
    }

    /// Rejects new operations, fails queued ones and waiting receivers, and makes the device flush operations in
    /// flight.
    void stop(RdmaException why) {
        ClosedException refusal = refusal(why);
        gate.refuse(refusal);
        adapter.stop();
        inbox.end(refusal);
    }

    private ClosedException refusal(RdmaException why) {
        return new ClosedException(name + " has failed: " + why.getMessage(), why);
    }

    /// Frees everything. When this returns, all handlers have been called, and messages that were not
    /// received are discarded.
    void close() {
        adapter.close();
        copies.close();
        inbox.discard();
    }

    /// The failure of an operation.
    OperationException failure(int kind, WorkStatus status) {
        RdmaException why = events.failure();
        boolean own = why instanceof OperationException first && first.status() == status;
        return Failures.operation(
                name, Operation.name(kind), status, status == WorkStatus.FLUSHED ? 0 : vendorError, own ? null : why);
    }

    /// A handler of the program has thrown an exception. On the polling thread.
    void handlerThrew(Throwable thrown) {
        adapter.counters().count(ChannelCounter.HANDLER_ERRORS);
        events.onHandlerError(name, thrown);
    }

    @Override
    public String toString() {
        return name;
    }

    private void handle(MessageHandler handler, Message message) {
        message.handled();
        try {
            handler.onMessage(this, message);
        } catch (RuntimeException | Error e) {
            handlerThrew(e);
        }
        message.endOfHandler();
    }

    /// Receives the events of the lower half.
    private final class AdapterEvents implements ChannelEvents<CompletionHandler> {
        @Override
        public void onEnd(CompletionHandler handler, long context, WorkStatus status, long result) {
            try {
                handler.onCompletion(RdmaChannel.this, context, status, result);
            } catch (RuntimeException | Error e) {
                handlerThrew(e);
            }
        }

        @Override
        public void onArrival(int receive, long length, boolean notice, boolean tagged, int tag) {
            Message message = inbox.message(receive);
            message.arrived(length, notice, tagged, tag);
            MessageHandler handler = inbox.handlerNow();
            if (handler != null) {
                handle(handler, message);
            } else {
                inbox.store(message);
            }
        }

        @Override
        public void onWorkFailed(String what, WorkStatus status, int vendor) {
            if (status != WorkStatus.FLUSHED) {
                vendorError = vendor;
            }
            RdmaException first = events.failure();
            if (first == null) {
                events.onFailed(Failures.ofEndPoint(name, what, status, vendor, adapter.disconnectReason()));
            } else if (status != WorkStatus.FLUSHED
                    && status != WorkStatus.RETRY_EXCEEDED
                    && PeerFailedException.is(Reason.GONE, first)) {
                // The peer may have ended because of this operation, and its end was noticed first.
                gate.refuse(refusal(Failures.operation(name, what, status, vendor, first)));
            }
        }

        @Override
        public void onFailed(RdmaException why) {
            events.onFailed(new RdmaException(why.getMessage(), why));
        }

        @Override
        public void onRecall() {
            events.onRecall(index);
        }

        @Override
        public void onAttention() {
            MessageHandler handler = inbox.handler();
            while (handler != null) {
                Message message = inbox.take();
                if (message == null) {
                    break;
                }
                handle(handler, message);
                handler = inbox.handler();
            }
            gate.drain();
        }
    }
}
