package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.VerbsEnd;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.function.Consumer;

/// One run of ibv_rc_pingpong(1), ibv_uc_pingpong(1) or ibv_ud_pingpong(1), over queue pairs that connect by
/// number. Each side sends the next message when its last one has completed and one from the peer has arrived. The
/// client begins. For one thread.
final class PingPongRun implements AutoCloseable {
    private static final int READ_ATOMIC = 1;

    private final Context context;
    private final PingPongSettings settings;
    private final Consumer<String> lines;
    private final VerbsEnd end;
    private final SendBatch send;
    private final ReceiveBatch receives;
    private final Completions completions;

    /// Creates everything that a run needs; connects nothing yet.
    ///
    /// @param lines receives the addresses of both sides, as the C program prints them
    PingPongRun(Context context, PingPongSettings settings, Consumer<String> lines) {
        this.context = context;
        this.settings = settings;
        this.lines = lines;
        checkSize();
        this.end = new VerbsEnd(
                context,
                settings.type(),
                new QueueSizes(1, settings.receives(), 1, 1, 0),
                0,
                settings.bytes(),
                (long) settings.headerBytes() + settings.bytes(),
                VerbsEnd.MESSAGES);
        Content.fill(end.outgoing().segment(), settings.check());
        this.send = SendBatch.create(end.arena(), 1, 1);
        send.send(0).with(end.outgoing(), 0, settings.bytes()).signaled();
        this.receives = ReceiveBatch.create(end.arena(), settings.receives(), 1);
        this.completions = Completions.create(end.arena(), 2);
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
    PingPongResult play(String host, int port) throws IOException {
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

    /// Runs as the server of a connected client.
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
        QueuePairInfo info = end.queuePair().info(path);
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
        // The peer sends nothing before the exchange ends.
        end.connect(
                remote,
                how.withAccessFlags(VerbsEnd.MESSAGES).withReadAtomic(READ_ATOMIC),
                () -> postReceives(settings.receives()));
        end.address(send);
    }

    private void postReceives(int count) {
        receives.clear();
        for (int i = 0; i < count; i++) {
            receives.receive(1).with(end.incoming(), 0, end.incoming().length());
        }
        if (end.queuePair().post(receives) != count) {
            throw new CommandFailure("the receive queue of " + end.queuePair() + " is full: use a smaller --rx-depth");
        }
    }

    private PingPongResult rally(boolean begin) {
        int sent = 0;
        int received = 0;
        int posted = settings.receives();
        int begun = 0;
        long start = System.nanoTime();
        if (begin) {
            post();
            begun = 1;
        }
        while (sent < settings.iterations() || received < settings.iterations()) {
            int count = end.await(
                    completions, System.nanoTime() + settings.timeout().toNanos());
            if (count == 0) {
                throw nothing(sent, received);
            }
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
            // Send the next message when the last one has completed and another has arrived since; the client is
            // one message ahead.
            if (begun < settings.iterations() && sent == begun && received >= begun + (begin ? 0 : 1)) {
                post();
                begun++;
            }
        }
        return new PingPongResult(settings.bytes(), settings.iterations(), System.nanoTime() - start);
    }

    private void post() {
        if (end.queuePair().post(send) != 1) {
            throw new CommandFailure("the send queue of " + end.queuePair() + " is full");
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
            long wrong = Content.mismatch(end.incoming().segment().asSlice(settings.headerBytes()));
            if (wrong >= 0) {
                throw new CommandFailure("message " + number + " is wrong at byte " + wrong
                        + ": was the client started with -c (--check)?");
            }
        }
    }

    private CommandFailure nothing(int sent, int received) {
        return new CommandFailure("nothing arrived within "
                + settings.timeout().toMillis() + " ms after " + sent + " messages sent and " + received
                + " received: is the peer running, and does it use the same --count?"
                + (settings.type() == QueuePairType.RELIABLE_CONNECTED ? "" : " A message may also have been lost."));
    }

    /// Frees everything that the run used.
    @Override
    public void close() {
        end.close();
    }

    /// The content of the messages of ibv_rc_pingpong(1): 0x7b in every byte, except that -c puts zero at the
    /// beginning of each page.
    static final class Content {
        private static final byte FILL = 0x7b;
        private static final int PAGE = 4096;

        private Content() {}

        /// Fills a message.
        static void fill(MemorySegment message, boolean checked) {
            for (long at = 0; at < message.byteSize(); at++) {
                message.set(ValueLayout.JAVA_BYTE, at, expected(at, checked));
            }
        }

        /// The offset of the first wrong byte in a message from a peer with -c; -1 if there is none.
        static long mismatch(MemorySegment message) {
            for (long at = 0; at < message.byteSize(); at++) {
                if (message.get(ValueLayout.JAVA_BYTE, at) != expected(at, true)) {
                    return at;
                }
            }
            return -1;
        }

        private static byte expected(long at, boolean checked) {
            return checked && at % PAGE == 0 ? 0 : FILL;
        }
    }
}
