package io.rdmacomm.comm;

import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One connection of an end point: messages, one-sided operations on the peer's memory, atomics. Usable
/// from any thread; operations of one thread start in the order of its calls.
///
/// Every operation comes in three forms: here as a non-blocking `try` method with a handler, which
/// allocates nothing; as a future in [#async()]; as a blocking call in [#blocking()].
///
/// A `try` method says whether the operation was accepted, and if not, why: [Admission]. An accepted operation
/// ends exactly once, and its handler is told; the operations of one channel end in order. The memory of an
/// operation belongs to it until it has ended.
///
/// ```java
/// while (!channel.tryWrite(slice, remote, 0, handler, context).isAccepted()) {
///     channel.checkOpen();
///     channel.poll();
/// }
/// ```
///
/// All `try` methods throw [IndexOutOfBoundsException] if a range is not within the remote buffer, and
/// [IllegalArgumentException] if a buffer belongs to another session or end point, or lacks the access right
/// that the operation needs.
public final class RdmaChannel {
    /// Who owns the channel; called on any thread.
    interface Owner {
        /// The queue pair of `channel` cannot be used any more.
        void onFailed(RdmaChannel channel, CommException why);

        /// What the channels have failed with: the first that [#onFailed] was told by any of them, or something
        /// else.
        @Nullable
        CommException failure();

        /// A handler of the user threw.
        void onHandlerError(RdmaChannel channel, Throwable failure);
    }

    private final String name;
    private final int index;
    private final ChannelOptions options;
    private final Duration patience;
    private final Owner owner;
    private final Arena arena;
    private final RdmaAdapter adapter;
    private final SendGate gate;
    private ChannelRules rules;
    private Operation scratch;
    private int peerReceives = 1;
    private volatile int vendorError;

    /// @param arena lives as long as the channel
    /// @param patience how long blocking calls and futures wait that name no time of their own
    RdmaChannel(
            String name,
            int index,
            ChannelOptions options,
            ChannelRules rules,
            CompletionGroup group,
            ChannelMemory memory,
            Arena arena,
            Duration patience,
            Owner owner) {
        this.name = name;
        this.index = index;
        this.options = options;
        this.rules = rules;
        this.scratch = new Operation(rules);
        this.arena = arena;
        this.patience = patience;
        this.owner = owner;
        this.adapter = new RdmaAdapter(group, rules.domain(), options, memory, arena, new AdapterEvents());
        this.gate = new SendGate(name, adapter);
    }

    /// What it is called in messages.
    public String name() {
        return name;
    }

    /// Which data channel of its end point it is, counted from 0.
    public int index() {
        return index;
    }

    /// How it was made.
    public ChannelOptions options() {
        return options;
    }

    /// The longest message that the peer can receive, in bytes.
    public int maxMessageBytes() {
        return rules.maxMessage();
    }

    /// Sends a message.
    ///
    /// @param message at most [#maxMessageBytes()]
    /// @param handler told how it ended
    /// @param context given to the handler
    /// @return whether it was accepted, and if not, why
    public Admission trySend(BufferSlice message, CompletionHandler handler, long context) {
        adapter.sendLock().lock();
        try {
            return gate.isOpen() ? gate.start(scratch.send(message), handler, context) : Admission.CLOSED;
        } finally {
            adapter.sendLock().unlock();
        }
    }

    /// Sends a message with a 32-bit tag; see [#trySend(BufferSlice, CompletionHandler, long)].
    public Admission trySend(BufferSlice message, int tag, CompletionHandler handler, long context) {
        adapter.sendLock().lock();
        try {
            return gate.isOpen() ? gate.start(scratch.send(message, tag), handler, context) : Admission.CLOSED;
        } finally {
            adapter.sendLock().unlock();
        }
    }

    /// Writes into the peer's memory.
    ///
    /// @param from what to write
    /// @param to where to write it
    /// @param offset where in `to` to begin
    /// @param handler told how it ended
    /// @param context given to the handler
    /// @return whether it was accepted, and if not, why
    public Admission tryWrite(BufferSlice from, RemoteBuffer to, long offset, CompletionHandler handler, long context) {
        adapter.sendLock().lock();
        try {
            return gate.isOpen() ? gate.start(scratch.write(from, to, offset), handler, context) : Admission.CLOSED;
        } finally {
            adapter.sendLock().unlock();
        }
    }

    /// Writes into the peer's memory and then gives the peer a notice with a tag, which its
    /// [MessageHandler] is told of and which counts as a message; see [#tryWrite].
    public Admission tryWriteNotify(
            BufferSlice from, RemoteBuffer to, long offset, int tag, CompletionHandler handler, long context) {
        adapter.sendLock().lock();
        try {
            return gate.isOpen()
                    ? gate.start(scratch.writeNotify(from, to, offset, tag), handler, context)
                    : Admission.CLOSED;
        } finally {
            adapter.sendLock().unlock();
        }
    }

    /// Reads from the peer's memory.
    ///
    /// @param into where to put it
    /// @param from what to read
    /// @param offset where in `from` to begin
    /// @param handler told how it ended
    /// @param context given to the handler
    /// @return whether it was accepted, and if not, why
    public Admission tryRead(
            BufferSlice into, RemoteBuffer from, long offset, CompletionHandler handler, long context) {
        adapter.sendLock().lock();
        try {
            return gate.isOpen() ? gate.start(scratch.read(into, from, offset), handler, context) : Admission.CLOSED;
        } finally {
            adapter.sendLock().unlock();
        }
    }

    /// Replaces 8 bytes of the peer's memory with `value` if they are `expected`, atomically. The handler's
    /// result is the old value.
    ///
    /// @param in the peer's memory
    /// @param offset where in it, so that the address is a multiple of 8
    /// @return whether it was accepted, and if not, why
    public Admission tryCompareAndSwap(
            RemoteBuffer in, long offset, long expected, long value, CompletionHandler handler, long context) {
        adapter.sendLock().lock();
        try {
            return gate.isOpen()
                    ? gate.start(scratch.compareAndSwap(in, offset, expected, value), handler, context)
                    : Admission.CLOSED;
        } finally {
            adapter.sendLock().unlock();
        }
    }

    /// Adds to 8 bytes of the peer's memory, atomically. The handler's result is the old value.
    ///
    /// @param in the peer's memory
    /// @param offset where in it, so that the address is a multiple of 8
    /// @return whether it was accepted, and if not, why
    public Admission tryFetchAndAdd(
            RemoteBuffer in, long offset, long addend, CompletionHandler handler, long context) {
        adapter.sendLock().lock();
        try {
            return gate.isOpen()
                    ? gate.start(scratch.fetchAndAdd(in, offset, addend), handler, context)
                    : Admission.CLOSED;
        } finally {
            adapter.sendLock().unlock();
        }
    }

    /// Room for up to `capacity` operations that are started together, with one doorbell and one
    /// completion.
    ///
    /// @param capacity 1 to the send window
    public ChannelBatch batch(int capacity) {
        return new ChannelBatch(
                this,
                rules,
                arena,
                Checks.range("capacity of a batch", capacity, 1, options.sendWindow()),
                mostSends());
    }

    /// Gives all messages and notices to a handler, those first that have arrived already. With null they
    /// are kept for [#tryReceive()] and its other forms; that is so in the beginning.
    public void onMessage(@Nullable MessageHandler handler) {
        adapter.receives().handler(handler);
        adapter.attention();
    }

    /// Takes the oldest message or notice that has arrived, when there is no handler for them. Never
    /// blocks, never allocates. Does not poll. The caller closes the message.
    ///
    /// @return the message, or null if there is none
    /// @throws ClosedException if there is none and the channel is closed or has failed
    public @Nullable Message tryReceive() {
        Message message = adapter.receives().tryReceive();
        if (message == null && adapter.receives().end() != null) {
            gate.checkOpen();
        }
        return message;
    }

    /// The same operations as futures that wait for room no longer than the operation deadline.
    public AsyncChannel async() {
        return async(patience);
    }

    /// The same operations as futures that wait for room no longer than `timeout`.
    public AsyncChannel async(Duration timeout) {
        return new AsyncChannel(this, Checks.wait("timeout", timeout));
    }

    /// The same operations as calls that block no longer than the operation deadline.
    public BlockingChannel blocking() {
        return blocking(patience);
    }

    /// The same operations as calls that block no longer than `timeout`.
    public BlockingChannel blocking(Duration timeout) {
        return new BlockingChannel(this, Checks.wait("timeout", timeout));
    }

    /// Makes progress and runs handlers, those of the channels that share its completion queue included,
    /// when the thread mode is CALLER; else library threads do, and this returns 0. Never blocks, never
    /// allocates. Called in a handler, or while another thread polls, it returns 0.
    ///
    /// @return how many completions there were
    public int poll() {
        return adapter.group().isCallerDriven() ? adapter.group().poll() : 0;
    }

    /// Operations that were taken and have not ended.
    public int inFlight() {
        return adapter.inFlight();
    }

    /// Whether operations are taken: the end point is neither closed nor closing nor failed, and the peer
    /// is not done.
    public boolean isOpen() {
        return gate.isOpen();
    }

    /// Throws if no operations are taken, for loops around the `try` methods.
    ///
    /// @throws PeerDoneException if the peer has closed its side in order
    /// @throws ClosedException if this side was closed, or has failed; then the cause says why
    public void checkOpen() {
        gate.checkOpen();
    }

    /// Its counters now.
    public ChannelStatistics statistics() {
        return adapter.counters().snapshot();
    }

    /// The lower half, for those who run the channel.
    RdmaAdapter adapter() {
        return adapter;
    }

    SendGate gate() {
        return gate;
    }

    ChannelRules rules() {
        return rules;
    }

    /// Messages that the peer can be sent together, whatever it has done with those before.
    private int mostSends() {
        return peerReceives - ReceivePool.together(peerReceives) + 1;
    }

    /// Brings the queue pair up. Operations are refused until [SendGate#open()].
    void connect(ChannelInfo peer, QueuePairConnector connector) {
        peerReceives = peer.receives();
        rules = new ChannelRules(
                rules.domain(),
                rules.endPoint(),
                peer.messageBytes(),
                rules.maxTransfer(),
                rules.inlineBytes(),
                rules.fenced(),
                rules.unacknowledged());
        scratch = new Operation(rules);
        adapter.connect(peer, rules, connector);
    }

    /// Takes nothing more, flushes what is in flight, and fails those who wait.
    void stop(CommException why) {
        ClosedException refusal = new ClosedException(name + " has failed: " + why.getMessage(), why);
        adapter.stop();
        gate.refuse(refusal);
        adapter.receives().end(refusal);
    }

    /// What an operation failed with.
    OperationException failure(int kind, WorkStatus status) {
        CommException why = owner.failure();
        boolean own = why instanceof OperationException first && first.status() == status;
        return Failures.operation(
                name, Operation.name(kind), status, status == WorkStatus.FLUSHED ? 0 : vendorError, own ? null : why);
    }

    private void handlerThrew(Throwable thrown) {
        adapter.counters().handlerErrors++;
        owner.onHandlerError(this, thrown);
    }

    @Override
    public String toString() {
        return name;
    }

    /// What the lower half tells.
    private final class AdapterEvents implements RdmaAdapter.Events {
        @Override
        public void onOperation(CompletionHandler handler, long context, WorkStatus status, long result) {
            try {
                handler.onCompletion(RdmaChannel.this, context, status, result);
            } catch (RuntimeException | Error e) {
                handlerThrew(e);
            }
        }

        @Override
        public void onMessage(MessageHandler handler, Message message) {
            try {
                handler.onMessage(RdmaChannel.this, message);
            } catch (RuntimeException | Error e) {
                handlerThrew(e);
            }
        }

        @Override
        public void onReceivesPosted(long count) {
            adapter.announceReceives(count);
        }

        @Override
        public void onWorkFailed(String what, WorkStatus status, int vendor) {
            if (status != WorkStatus.FLUSHED) {
                vendorError = vendor;
            }
            if (owner.failure() != null) {
                return;
            }
            owner.onFailed(
                    RdmaChannel.this, Failures.ofEndPoint(name, what, status, vendor, adapter.disconnectReason()));
        }

        @Override
        public void onFailed(CommException why) {
            owner.onFailed(RdmaChannel.this, why);
        }

        @Override
        public void onAttention() {
            adapter.receives().deliverStored();
            gate.pump();
        }
    }
}
