package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// One game of ibv_rc_pingpong(1): a reliable connected queue pair, connected by numbers, over which each end
/// sends the next message when its last one is done and one of the peer has arrived. The client begins. For one
/// thread.
public final class PingPong implements AutoCloseable {
    private static final int READ_ATOMIC = 1;
    private static final int SPINS = 2000;
    private static final long NAP_NANOS = 20_000;
    private static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.LOCAL_WRITE);

    private final Context context;
    private final PingPongSettings settings;
    private final Consumer<String> lines;
    private final Arena arena = Arena.ofConfined();
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final MemoryRegion outgoing;
    private final MemoryRegion incoming;
    private final SendBatch send;
    private final ReceiveBatch receives;
    private final Completions completions;

    /// Makes everything ready; nothing is connected yet.
    ///
    /// @param lines is told the addresses of both ends, as the C program prints them
    public PingPong(Context context, PingPongSettings settings, Consumer<String> lines) {
        this.context = context;
        this.settings = settings;
        this.lines = lines;
        this.domain = context.allocateProtectionDomain();
        boolean complete = false;
        try {
            this.queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(settings.receives() + 1));
            this.queuePair = domain.createQueuePair(
                    QueuePairOptions.reliable(queue).withSizes(new QueueSizes(1, settings.receives(), 1, 1, 0)));
            this.outgoing = domain.allocate(settings.bytes(), Set.of());
            this.incoming = domain.allocate(settings.bytes(), ACCESS);
            complete = true;
        } finally {
            if (!complete) {
                domain.close();
                arena.close();
            }
        }
        PingPongContent.fill(outgoing.segment(), settings.check());
        this.send = SendBatch.create(arena, 1, 1);
        send.send(0).with(outgoing, 0, settings.bytes()).signaled();
        this.receives = ReceiveBatch.create(arena, settings.receives(), 1);
        this.completions = Completions.create(arena, 2);
    }

    /// Plays as the client of a server at that host.
    public PingPongResult play(String host, int port) throws IOException {
        PingPongAddress peer;
        try (PingPongExchange exchange = PingPongExchange.connect(host, port, settings.patience())) {
            exchange.send(own());
            peer = exchange.receive();
            exchange.sendDone();
        }
        lines.accept("  remote address: " + peer);
        connect(peer);
        return rally(true);
    }

    /// Plays as the server of the client that has connected.
    PingPongResult play(PingPongExchange exchange) throws IOException {
        PingPongAddress own = own();
        PingPongAddress peer = exchange.receive();
        connect(peer);
        exchange.send(own);
        exchange.awaitDone();
        exchange.close();
        lines.accept("  remote address: " + peer);
        return rally(false);
    }

    /// The own address. Where packets always carry a GID, the peer needs it; on InfiniBand the LID is enough, and
    /// the C program keeps the GID to itself as well.
    private PingPongAddress own() {
        PathOptions path = settings.connection().path();
        QueuePairInfo info = queuePair.info(path.port(), path.gidIndex());
        boolean needed = path.gidIndex() != PathOptions.AUTOMATIC_GID || isEthernet();
        PingPongAddress own = new PingPongAddress(
                info.lid(), info.number(), info.packetSequenceNumber(), needed ? info.gid() : Gid.NONE);
        lines.accept("  local address:  " + own);
        return own;
    }

    private void connect(PingPongAddress peer) {
        if (peer.gid().equals(Gid.NONE) && isEthernet()) {
            throw new CommandFailure(
                    "the peer sent no GID, and packets on Ethernet need one: start ibv_rc_pingpong with -g INDEX");
        }
        ConnectionOptions how = settings.connection();
        queuePair.connect(
                new QueuePairInfo(
                        peer.number(),
                        peer.packetSequenceNumber(),
                        peer.lid(),
                        peer.gid(),
                        how.path().mtu()),
                how.withAccessFlags(ACCESS).withReadAtomic(READ_ATOMIC));
        postReceives(settings.receives());
    }

    private boolean isEthernet() {
        return context.port(settings.connection().path().port()).linkLayer() == LinkLayer.ETHERNET;
    }

    private void postReceives(int count) {
        receives.clear();
        for (int i = 0; i < count; i++) {
            receives.receive(1).with(incoming, 0, settings.bytes());
        }
        if (queuePair.post(receives) != count) {
            throw new CommandFailure("the receive queue of " + queuePair + " is full: use a smaller --rx-depth");
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
            int count = queue.poll(completions);
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
            // The next message: the last one is done and one has arrived since; the client is one ahead.
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

    /// Spins for a moment, then leaves the processor to others, for one of whom this may be waiting.
    private static void rest(int looks) {
        if (looks < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(NAP_NANOS);
        }
    }

    private void post() {
        if (queuePair.post(send) != 1) {
            throw new CommandFailure("the send queue of " + queuePair + " is full");
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
        if (completions.byteLength(index) != settings.bytes()) {
            throw new CommandFailure("the peer sends messages of " + completions.byteLength(index)
                    + " bytes, this side expects " + settings.bytes() + ": use the same --size on both sides");
        }
        if (settings.check()) {
            long wrong = PingPongContent.mismatch(incoming.segment());
            if (wrong >= 0) {
                throw new CommandFailure("message " + number + " is wrong at byte " + wrong
                        + ": was the client started with -c (--check)?");
            }
        }
    }

    private void checkDeadline(long deadline, int sent, int received) {
        if (System.nanoTime() - deadline > 0) {
            throw new CommandFailure("nothing arrived for "
                    + settings.patience().toMillis() + " ms after " + sent + " messages sent and " + received
                    + " received: is the peer alive, and has it the same --count?");
        }
    }

    /// Frees everything that the game used.
    @Override
    public void close() {
        domain.close();
        queue.close();
        arena.close();
    }
}
