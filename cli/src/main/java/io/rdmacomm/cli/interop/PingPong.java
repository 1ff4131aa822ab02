package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DatagramOptions;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// One run of ibv_rc_pingpong(1), ibv_uc_pingpong(1) or ibv_ud_pingpong(1): over queue pairs that connect by
/// number, each side sends the next message when its last one has completed and one of the peer has arrived.
/// The client begins. For one thread.
public final class PingPong implements AutoCloseable {
    private static final int READ_ATOMIC = 1;
    /// The value that the C program uses.
    private static final int QUEUE_KEY = 0x1111_1111;
    private static final int SPINS = 2000;
    private static final long SLEEP_NANOS = 20_000;

    private final Context context;
    private final PingPongSettings settings;
    private final Consumer<String> lines;
    private final MessageQueuePair pair;
    private final SendBatch send;
    private final ReceiveBatch receives;
    private final Completions completions;

    /// Creates everything that a run needs; connects nothing yet.
    ///
    /// @param lines receives the addresses of both sides, as the C program prints them
    public PingPong(Context context, PingPongSettings settings, Consumer<String> lines) {
        this.context = context;
        this.settings = settings;
        this.lines = lines;
        checkSize();
        this.pair = new MessageQueuePair(
                context, settings.type(), 1, settings.receives(), settings.bytes(), settings.headerBytes());
        PingPongContent.fill(pair.outgoing().segment(), settings.check());
        this.send = SendBatch.create(pair.arena(), 1, 1);
        send.send(0).with(pair.outgoing(), 0, settings.bytes()).signaled();
        this.receives = ReceiveBatch.create(pair.arena(), settings.receives(), 1);
        this.completions = Completions.create(pair.arena(), 2);
    }

    private void checkSize() {
        int port = settings.connection().path().port();
        int longest = context.port(port).activeMtu().bytes();
        if (settings.isDatagram() && settings.bytes() > longest) {
            throw new CommandFailure("a datagram through port " + port + " of " + context + " has at most " + longest
                    + " bytes: use a smaller --size on both sides, the default is that of the C program");
        }
    }

    /// Runs as the client of the server at that host.
    public PingPongResult play(String host, int port) throws IOException {
        PingPongAddress peer;
        InetAddress from;
        try (PingPongExchange exchange = PingPongExchange.connect(host, port, settings)) {
            exchange.send(localAddress());
            peer = exchange.receive();
            from = exchange.remoteAddress();
            exchange.sendDone();
        }
        lines.accept("  remote address: " + peer);
        connect(peer, from);
        return rally(true);
    }

    /// Runs as the server of the client that has connected.
    PingPongResult play(PingPongExchange exchange) throws IOException {
        PingPongAddress own = localAddress();
        PingPongAddress peer = exchange.receive();
        connect(peer, exchange.remoteAddress());
        exchange.send(own);
        exchange.awaitDone();
        exchange.close();
        lines.accept("  remote address: " + peer);
        return rally(false);
    }

    /// The address of this side.
    private PingPongAddress localAddress() {
        PathOptions path = settings.connection().path();
        QueuePairInfo info = pair.queuePair().info(path);
        boolean needed = PeerNumbers.needGid(context, path);
        PingPongAddress own = new PingPongAddress(
                info.lid(), info.number(), info.packetSequenceNumber(), needed ? info.gid() : Gid.NONE);
        lines.accept("  local address:  " + own);
        return own;
    }

    /// @param from the host that sent the address
    private void connect(PingPongAddress peer, InetAddress from) {
        ConnectionOptions how = settings.connection();
        QueuePairInfo remote = new QueuePairInfo(
                peer.number(),
                peer.packetSequenceNumber(),
                peer.lid(),
                peer.gid(),
                how.path().mtu());
        PeerNumbers.check(remote, context, how.path(), from, settings.program() + " with -g INDEX");
        if (settings.isDatagram()) {
            AddressHandle handle = pair.domain().createAddressHandle(remote, how.path());
            send.to(handle, peer.number(), QUEUE_KEY); // closed with the protection domain
            pair.queuePair().startDatagrams(DatagramOptions.ofKey(QUEUE_KEY).withPath(how.path()));
        } else {
            pair.queuePair()
                    .connect(
                            remote, how.withAccessFlags(MessageQueuePair.ACCESS).withReadAtomic(READ_ATOMIC));
        }
        // The peer sends nothing before the exchange has ended, so nothing is lost.
        postReceives(settings.receives());
    }

    private void postReceives(int count) {
        receives.clear();
        for (int i = 0; i < count; i++) {
            receives.receive(1).with(pair.incoming(), 0, pair.incoming().length());
        }
        if (pair.queuePair().post(receives) != count) {
            throw new CommandFailure("the receive queue of " + pair.queuePair() + " is full: use a smaller --rx-depth");
        }
    }

    private PingPongResult rally(boolean begin) {
        int sent = 0;
        int received = 0;
        int posted = settings.receives();
        int begun = 0;
        int idle = 0;
        long start = System.nanoTime();
        if (begin) {
            post();
            begun = 1;
        }
        long deadline = start + settings.patience().toNanos();
        while (sent < settings.iterations() || received < settings.iterations()) {
            int count = pair.completionQueue().poll(completions);
            for (int i = 0; i < count; i++) {
                checkStatus(i);
                if (completions.isReceive(i)) {
                    checkMessage(i, received);
                    received++;
                    posted--;
                } else {
                    sent++;
                }
            }
            if (posted <= 1) {
                postReceives(settings.receives() - posted);
                posted = settings.receives();
            }
            // Send the next message when the last one has completed and one has arrived since; the client is one
            // ahead.
            if (begun < settings.iterations() && sent == begun && received >= begun + (begin ? 0 : 1)) {
                post();
                begun++;
            }
            if (count > 0) {
                idle = 0;
                deadline = System.nanoTime() + settings.patience().toNanos();
            } else {
                rest(++idle);
                checkDeadline(deadline, sent, received);
            }
        }
        return new PingPongResult(settings.bytes(), settings.iterations(), System.nanoTime() - start);
    }

    /// Spins for a moment, and then yields the processor, which the peer may need.
    private static void rest(int polls) {
        if (polls < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(SLEEP_NANOS);
        }
    }

    private void post() {
        if (pair.queuePair().post(send) != 1) {
            throw new CommandFailure("the send queue of " + pair.queuePair() + " is full");
        }
    }

    private void checkStatus(int index) {
        if (!completions.isSuccess(index)) {
            throw new CommandFailure("a message failed with " + completions.status(index)
                    + ": are --size and --mtu the same on both sides, and does the GID index name a RoCE v2 address"
                    + " that the other side reaches?");
        }
    }

    private void checkMessage(int index, int number) {
        long bytes = completions.byteLength(index) - settings.headerBytes();
        if (bytes != settings.bytes()) {
            throw new CommandFailure("the peer sends messages of " + bytes + " bytes, but this side expects "
                    + settings.bytes() + ": use the same --size on both sides");
        }
        if (settings.check()) {
            long wrong = PingPongContent.mismatch(pair.incoming().segment().asSlice(settings.headerBytes()));
            if (wrong >= 0) {
                throw new CommandFailure("message " + number + " is wrong at byte " + wrong
                        + ": was the client started with -c (--check)?");
            }
        }
    }

    private void checkDeadline(long deadline, int sent, int received) {
        if (System.nanoTime() - deadline > 0) {
            throw new CommandFailure("nothing arrived within "
                    + settings.patience().toMillis() + " ms after " + sent + " messages sent and " + received
                    + " received: is the peer running, and does it use the same --count?"
                    + (settings.type() == QueuePairType.RELIABLE_CONNECTED
                            ? ""
                            : " A message may also have been lost."));
        }
    }

    /// Frees everything that the run used.
    @Override
    public void close() {
        pair.close();
    }
}
