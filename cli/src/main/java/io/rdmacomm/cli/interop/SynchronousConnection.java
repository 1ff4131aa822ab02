package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.cli.rig.VerbsEnd;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Route;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A connection for protocols that proceed step by step: one receive is posted, at most one request is in flight,
/// and every call waits for its completion, limited by the timeout. For one thread. When its connection manager is
/// closed, the connection ends with an exception in that thread.
final class SynchronousConnection implements AutoCloseable {
    /// Room for one message from the peer. It is larger than any valid message, so that one of the wrong length can
    /// be reported.
    private static final int MESSAGE_ROOM = 64;

    private static final int SENDS = 4;
    private static final int RECEIVES = 1;
    private static final long RECEIVE = 0;

    private final Duration timeout;
    private final VerbsEnd end;
    private final SendBatch request;
    private final ReceiveBatch receive;
    private final Completions completions;
    private @Nullable Connection connection;
    private long lastRequest;
    private long lastCompleted;
    private long messageBytes = -1;
    private boolean ended;

    private SynchronousConnection(Context context, Duration timeout) {
        this.timeout = timeout;
        this.end = new VerbsEnd(
                context,
                QueuePairType.RELIABLE_CONNECTED,
                new QueueSizes(SENDS, RECEIVES, 1, 1, 0),
                0,
                MESSAGE_ROOM,
                MESSAGE_ROOM,
                VerbsEnd.MESSAGES);
        this.request = SendBatch.create(end.arena(), 1, 1);
        this.receive = ReceiveBatch.create(end.arena(), RECEIVES, 1);
        this.completions = Completions.create(end.arena(), 1);
        receive.receive(RECEIVE).with(end.incoming(), 0, MESSAGE_ROOM);
    }

    /// Connects to a listener. Tries all addresses of the host in turn. Blocks.
    ///
    /// @param timeout how long each step may take, here and later
    static SynchronousConnection connect(
            ConnectionManager manager,
            String host,
            int port,
            IdentifierOptions options,
            ConnectionParameters parameters,
            Duration timeout)
            throws IOException, InterruptedException {
        RdmaException last = null;
        for (InetAddress address : InetAddress.getAllByName(host)) {
            try (Route route = manager.resolve(new InetSocketAddress(address, port), options, timeout)) {
                return open(manager.context(), timeout, connection -> {
                    route.prepare(connection.end.queuePair());
                    connection.postReceive();
                    return route.connect(connection.end.queuePair(), parameters, timeout);
                });
            } catch (ConnectionException | DeadlineException e) {
                last = e;
            }
        }
        if (last != null) {
            throw last;
        }
        throw new UnknownHostException(host);
    }

    /// Accepts a request, with a receive posted. Blocks until the connection is established.
    ///
    /// @param timeout how long each step may take, here and later
    static SynchronousConnection accept(ConnectionRequest request, ConnectionParameters parameters, Duration timeout)
            throws InterruptedException {
        return open(request.manager().context(), timeout, connection -> {
            request.prepare(connection.end.queuePair());
            connection.postReceive();
            return request.accept(connection.end.queuePair(), parameters, timeout);
        });
    }

    /// Establishes the connection of an end.
    private interface Establishing {
        Connection establish(SynchronousConnection connection) throws InterruptedException;
    }

    private static SynchronousConnection open(Context context, Duration timeout, Establishing establishing)
            throws InterruptedException {
        SynchronousConnection opened = new SynchronousConnection(context, timeout);
        opened.connection = OnFailure.run(opened::close, () -> establishing.establish(opened));
        return opened;
    }

    /// Allocates registered memory, which is freed together with the connection.
    MemoryRegion allocate(long bytes, Set<AccessFlag> access) {
        return end.allocate(bytes, access);
    }

    /// Posts a receive for the next message from the peer.
    void postReceive() {
        if (end.queuePair().post(receive) != 1) {
            throw new CommandFailure("the receive queue of " + end.queuePair() + " is full");
        }
    }

    /// Waits for the message that the posted receive takes.
    ///
    /// @return its content, valid until the next [#postReceive()]; null if the peer has ended the connection
    @Nullable
    MemorySegment awaitMessage() throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (messageBytes < 0 && !ended) {
            awaitCompletion("a message of the peer", deadline);
        }
        long length = messageBytes;
        messageBytes = -1;
        return length < 0 ? null : end.incoming().segment().asSlice(0, length);
    }

    /// Waits for the message that the posted receive takes, when the protocol does not allow the peer to
    /// disconnect.
    ///
    /// @return its content, valid until the next [#postReceive()]
    /// @throws CommandFailure if the peer has ended the connection
    MemorySegment expectMessage() throws InterruptedException {
        MemorySegment message = awaitMessage();
        if (message == null) {
            throw new CommandFailure("the peer ended the connection too early" + disconnectReason());
        }
        return message;
    }

    /// Sends a message of at most 64 bytes and waits for its completion.
    ///
    /// @return false if the connection ended before that; the peer may still have received the message
    boolean send(MemorySegment message) throws InterruptedException {
        end.outgoing().segment().copyFrom(message);
        request.clear().send(++lastRequest).with(end.outgoing(), 0, message.byteSize());
        return execute("sending a message");
    }

    /// Reads the peer's memory into the beginning of `into`, and waits for the completion.
    ///
    /// @throws CommandFailure if the READ failed, or the connection ended before its completion
    void read(MemoryRegion into, long bytes, long address, int key) throws InterruptedException {
        request.clear().read(++lastRequest, address, key).with(into, 0, bytes);
        executeFully("READ of " + bytes + " bytes of the peer's memory");
    }

    /// Writes the beginning of `from` into the peer's memory, and waits for the completion.
    ///
    /// @throws CommandFailure if the WRITE failed, or the connection ended before its completion
    void write(MemoryRegion from, long bytes, long address, int key) throws InterruptedException {
        request.clear().write(++lastRequest, address, key).with(from, 0, bytes);
        executeFully("WRITE of " + bytes + " bytes into the peer's memory");
    }

    private void executeFully(String step) throws InterruptedException {
        if (!execute(step)) {
            throw new CommandFailure(step + ": the connection has ended" + disconnectReason());
        }
    }

    /// Posts the request and waits for its completion.
    ///
    /// @return false if the connection ended before that
    private boolean execute(String step) throws InterruptedException {
        request.signaled();
        if (end.queuePair().post(request) != 1) {
            throw new CommandFailure("the send queue of " + end.queuePair() + " is full");
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        while (lastCompleted < lastRequest && !ended) {
            awaitCompletion(step, deadline);
        }
        return lastCompleted == lastRequest;
    }

    /// Takes the next completion.
    private void awaitCompletion(String step, long deadline) throws InterruptedException {
        if (end.await(completions, deadline) == 0) {
            throw new CommandFailure("timed out after " + timeout.toMillis() + " ms waiting for " + step
                    + ": is the peer running, and does it speak the same protocol?");
        }
        onCompletion(step);
    }

    private void onCompletion(String step) {
        long id = completions.workId(0);
        WorkStatus status = completions.status(0);
        if (status == WorkStatus.FLUSHED) {
            ended = true;
        } else if (status != WorkStatus.SUCCESS) {
            throw new CommandFailure(
                    (id == RECEIVE ? "receiving a message" : step) + " failed with " + status + disconnectReason());
        } else if (id == RECEIVE) {
            messageBytes = completions.byteLength(0);
        } else {
            lastCompleted = id;
        }
    }

    private String disconnectReason() {
        Connection made = connection;
        String reason = made == null || !made.isOpen() ? null : made.disconnectReason();
        return reason == null ? "" : ": " + reason;
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
            end.close();
        }
    }
}
