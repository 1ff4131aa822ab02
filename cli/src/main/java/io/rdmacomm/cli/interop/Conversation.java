package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Route;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A connection for protocols that go step by step: one receive waits, one request is in flight, and each step is
/// waited for, no longer than the patience. Owns the queue pair and all that it uses. For one thread; it ends,
/// with an exception in that thread, when its connection manager is closed.
final class Conversation implements AutoCloseable {
    /// Room for one message of the peer; the messages are shorter, so that one of a wrong length is noticed as
    /// such.
    static final int MESSAGE_ROOM = 64;

    private static final int SENDS = 4;
    private static final int RECEIVES = 1;
    private static final long RECEIVE = 0;
    private static final long SPIN_NANOS = 20_000;
    private static final Set<AccessFlag> RECEIVE_ACCESS = EnumSet.of(AccessFlag.LOCAL_WRITE);

    private final Duration patience;
    private final Arena arena = Arena.ofConfined();
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final MemoryRegion incoming;
    private final MemoryRegion outgoing;
    private final SendBatch request = SendBatch.create(arena, 1, 1);
    private final ReceiveBatch receive = ReceiveBatch.create(arena, 1, 1);
    private final Completions completions = Completions.create(arena, 1);
    private @Nullable Connection connection;
    private long lastRequest;
    private long lastDone;
    private long messageBytes = -1;
    private boolean ended;

    private Conversation(Context context, Duration patience) {
        this.patience = patience;
        this.domain = context.allocateProtectionDomain();
        CompletionChannel events = null;
        CompletionQueue completed = null;
        boolean complete = false;
        try {
            events = context.createCompletionChannel();
            completed = context.createCompletionQueue(
                    CompletionQueueOptions.ofCapacity(SENDS + RECEIVES).withChannel(events));
            this.queuePair = domain.createQueuePair(
                    QueuePairOptions.reliable(completed).withSizes(new QueueSizes(SENDS, RECEIVES, 1, 1, 0)));
            this.incoming = domain.allocate(MESSAGE_ROOM, RECEIVE_ACCESS);
            this.outgoing = domain.allocate(MESSAGE_ROOM, Set.of());
            complete = true;
        } finally {
            if (!complete) {
                free(domain, completed, events, arena);
            }
        }
        this.channel = events;
        this.queue = completed;
        receive.receive(RECEIVE).with(incoming, 0, MESSAGE_ROOM);
    }

    /// Connects to a listener; all addresses of the host are tried in turn. Blocks.
    ///
    /// @param patience how long each step may take, here and later
    static Conversation connect(
            ConnectionManager manager, String host, int port, ConnectionParameters parameters, Duration patience)
            throws IOException, InterruptedException {
        ConnectionException last = null;
        for (InetAddress address : InetAddress.getAllByName(host)) {
            try {
                return connect(manager, new InetSocketAddress(address, port), parameters, patience);
            } catch (ConnectionException e) {
                last = e;
            }
        }
        if (last != null) {
            throw last;
        }
        throw new UnknownHostException(host);
    }

    private static Conversation connect(
            ConnectionManager manager,
            InetSocketAddress destination,
            ConnectionParameters parameters,
            Duration patience)
            throws InterruptedException {
        Conversation conversation = new Conversation(manager.context(), patience);
        boolean connected = false;
        try (Route route = manager.resolve(destination, patience)) {
            route.prepare(conversation.queuePair);
            conversation.postReceive();
            conversation.connection = route.connect(conversation.queuePair, parameters, patience);
            connected = true;
            return conversation;
        } finally {
            if (!connected) {
                conversation.close();
            }
        }
    }

    /// Accepts a request. Blocks until the connection stands; a receive is posted by then.
    ///
    /// @param patience how long each step may take, here and later
    static Conversation accept(ConnectionRequest request, ConnectionParameters parameters, Duration patience)
            throws InterruptedException {
        Conversation conversation = new Conversation(request.manager().context(), patience);
        boolean connected = false;
        try {
            request.prepare(conversation.queuePair);
            conversation.postReceive();
            conversation.connection = request.accept(conversation.queuePair, parameters, patience);
            connected = true;
            return conversation;
        } finally {
            if (!connected) {
                conversation.close();
            }
        }
    }

    /// Allocates registered memory; it is freed with the conversation.
    MemoryRegion allocate(long bytes, Set<AccessFlag> access) {
        return domain.allocate(bytes, access);
    }

    /// Makes room for the next message of the peer.
    void postReceive() {
        if (queuePair.post(receive) != 1) {
            throw new CommandFailure("the receive queue of " + queuePair + " is full");
        }
    }

    /// Waits for the message that the posted receive takes.
    ///
    /// @return its content, valid until the next [#postReceive()]; null when the peer has ended the connection
    @Nullable
    MemorySegment awaitMessage() throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (messageBytes < 0 && !ended) {
            progress("a message of the peer", deadline);
        }
        long length = messageBytes;
        messageBytes = -1;
        return length < 0 ? null : incoming.segment().asSlice(0, length);
    }

    /// Waits for the message that the posted receive takes, where the protocol does not allow the peer to go.
    ///
    /// @return its content, valid until the next [#postReceive()]
    /// @throws CommandFailure if the peer has ended the connection
    MemorySegment expectMessage() throws InterruptedException {
        MemorySegment message = awaitMessage();
        if (message == null) {
            throw new CommandFailure("the peer ended the connection before it was done" + reason());
        }
        return message;
    }

    /// Sends a message of at most [#MESSAGE_ROOM] bytes and waits until it is done.
    ///
    /// @return false if the connection ended before; the peer may have the message nevertheless
    boolean send(MemorySegment message) throws InterruptedException {
        outgoing.segment().copyFrom(message);
        request.clear().send(++lastRequest).with(outgoing, 0, message.byteSize());
        return carryOut("sending a message");
    }

    /// Reads the peer's memory into the beginning of `into` and waits until it is there.
    ///
    /// @throws CommandFailure if it failed, or the connection ended before
    void read(MemoryRegion into, long bytes, long address, int key) throws InterruptedException {
        request.clear().read(++lastRequest, address, key).with(into, 0, bytes);
        complete("READ of " + bytes + " bytes of the peer's memory");
    }

    /// Writes the beginning of `from` into the peer's memory and waits until it is done.
    ///
    /// @throws CommandFailure if it failed, or the connection ended before
    void write(MemoryRegion from, long bytes, long address, int key) throws InterruptedException {
        request.clear().write(++lastRequest, address, key).with(from, 0, bytes);
        complete("WRITE of " + bytes + " bytes into the peer's memory");
    }

    private void complete(String what) throws InterruptedException {
        if (!carryOut(what)) {
            throw new CommandFailure(what + ": the connection has ended" + reason());
        }
    }

    private boolean carryOut(String what) throws InterruptedException {
        request.signaled();
        if (queuePair.post(request) != 1) {
            throw new CommandFailure("the send queue of " + queuePair + " is full");
        }
        long deadline = System.nanoTime() + patience.toNanos();
        while (lastDone < lastRequest && !ended) {
            progress(what, deadline);
        }
        return lastDone == lastRequest;
    }

    /// Takes the next completion, spinning for a moment and sleeping after that.
    private void progress(String what, long deadline) throws InterruptedException {
        long spinEnd = System.nanoTime() + SPIN_NANOS;
        while (queue.poll(completions) == 0) {
            if (System.nanoTime() - spinEnd < 0) {
                Thread.onSpinWait();
                continue;
            }
            queue.arm(false);
            if (queue.poll(completions) > 0) {
                break;
            }
            sleep(what, deadline);
        }
        completed(what);
    }

    private void sleep(String what, long deadline) throws InterruptedException {
        long left = deadline - System.nanoTime();
        CompletionQueue woken = left <= 0 ? null : channel.awaitEvent(Duration.ofNanos(left));
        if (woken != null) {
            woken.acknowledge(1);
        } else if (System.nanoTime() - deadline >= 0) {
            throw new CommandFailure("waited " + patience.toMillis() + " ms in vain for " + what + ": is the peer alive"
                    + " and does it speak the same protocol?");
        }
    }

    private void completed(String what) {
        long id = completions.workId(0);
        WorkStatus status = completions.status(0);
        if (status == WorkStatus.FLUSHED) {
            ended = true;
        } else if (status != WorkStatus.SUCCESS) {
            throw new CommandFailure(
                    (id == RECEIVE ? "receiving a message" : what) + " failed with " + status + reason());
        } else if (id == RECEIVE) {
            messageBytes = completions.byteLength(0);
        } else {
            lastDone = id;
        }
    }

    private String reason() {
        Connection made = connection;
        String reason = made == null || !made.isOpen() ? null : made.disconnectReason();
        return reason == null ? "" : ": " + reason;
    }

    /// The peer.
    InetSocketAddress remoteAddress() {
        if (connection == null) {
            throw new IllegalStateException("not connected yet");
        }
        return connection.remoteAddress();
    }

    /// Ends the connection and frees everything.
    @Override
    public void close() {
        try {
            Connection made = connection;
            if (made != null) {
                made.close();
            }
        } finally {
            free(domain, queue, channel, arena);
        }
    }

    private static void free(
            ProtectionDomain domain,
            @Nullable CompletionQueue queue,
            @Nullable CompletionChannel channel,
            Arena arena) {
        try {
            domain.close();
            if (queue != null) {
                queue.close();
            }
            if (channel != null) {
                channel.close();
            }
        } finally {
            arena.close();
        }
    }
}
