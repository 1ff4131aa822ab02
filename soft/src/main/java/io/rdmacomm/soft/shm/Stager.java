package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.AtomicResult;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Moves data to and from memory that only its own process can access: the caller's own segments.
///
/// The initiator's stager thread puts a piece into a staging block of its control file and asks the peer's engine
/// to copy it to or from its memory. Slow, but with the same semantics. The thread starts with the first request
/// that needs it.
///
/// While the stager waits for an answer, its request keeps nobody from closing a region or a queue pair; what the
/// request is about is checked again before anything else is copied. A request that is given up is withdrawn. If the
/// peer has begun with it, its block is lent to the peer until that has finished.
final class Stager implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(Stager.class);
    private static final long ABSENCE_NANOS = 200_000_000;
    /// However patient the queue pair is: other requests wait for the same thread.
    private static final long DEADLINE_NANOS = 5_000_000_000L;
    private static final long PARK_NANOS = 1_000_000;
    private static final int SPINS = 2_000;
    private static final long JOIN_MILLIS = 6_000;

    /// Its oldest waiting request is executed on the stager's thread.
    interface Client {
        /// Executes the request; may wait for the peer.
        void runStaged();

        /// Whether the request must end as soon as possible; any thread.
        boolean isStopped();

        /// The request uses no memory until [#goOn].
        void pause();

        /// The request uses memory again.
        ///
        /// @return [Outcome#DONE], or why it must not
        int goOn();
    }

    /// A block whose request the peer was carrying out when it was given up.
    private record Lent(Peer to, long block, long served) {}

    private final String name;
    private final int lid;
    private final ControlFile control;
    private final LinkedBlockingQueue<Client> requests = new LinkedBlockingQueue<>();
    private @Nullable ServiceThread thread;
    private volatile @Nullable Client current;
    private volatile boolean closed;
    private final AtomicLong copies = new AtomicLong();
    private final ArrayDeque<Lent> lent = new ArrayDeque<>();
    private long block;
    private long ticket;
    private int failure;

    /// @param name of the thread
    /// @param lid of this context
    Stager(String name, int lid, ControlFile control) {
        this.name = name;
        this.lid = lid;
        this.control = control;
    }

    /// Has the oldest waiting request of `client` executed.
    synchronized void submit(Client client) {
        if (closed) {
            return;
        }
        requests.add(client);
        if (thread == null) {
            thread = new ServiceThread(name, LOGGER, this::serve).start();
        }
    }

    private boolean serve() throws InterruptedException {
        if (closed) {
            return false;
        }
        try {
            Client client = requests.take();
            current = client;
            client.runStaged();
        } finally {
            current = null;
        }
        return true;
    }

    /// Abandons the work for `client`, which is stopped, and waits until it has ended. Without a deadline: what is
    /// left of the work waits for nobody. If this is the stager's thread, it has ended already.
    void abandon(Client client) {
        requests.removeIf(client::equals);
        ServiceThread running = unpark();
        while (client.equals(current) && running != null && !running.isCurrent()) {
            LockSupport.parkNanos(PARK_NANOS / 10);
        }
    }

    /// Whether there is a block to put requests into.
    private boolean hasBlock() {
        if (block == 0) {
            block = takeBack();
        }
        if (block == 0) {
            try {
                block = control.allocate(StagingBlock.BYTES);
            } catch (IOException e) {
                // Without room the transfer is refused, and its queue pair fails.
                return false;
            }
        }
        return true;
    }

    /// A block that was lent and is not in use any more, or 0.
    private long takeBack() {
        for (Iterator<Lent> each = lent.iterator(); each.hasNext(); ) {
            Lent one = each.next();
            long state = SharedWords.acquire(control.memory(), one.block + StagingBlock.STATE);
            if (state != one.served || one.to.isGone()) {
                each.remove();
                return one.block;
            }
        }
        return 0;
    }

    /// Copies from memory of this side to memory of the peer, some of which only the peer can access.
    ///
    /// @param operation of [StagingBlock]
    int put(PeerQueuePair peer, int operation, ElementList from, ElementList to, long bytes) {
        return move(peer, operation, from, to, bytes);
    }

    /// Copies from memory of the peer, some of which only the peer can access, to memory of this side.
    int read(PeerQueuePair peer, ElementList from, ElementList to, long bytes) {
        return move(peer, StagingBlock.READ, from, to, bytes);
    }

    private int move(PeerQueuePair peer, int operation, ElementList from, ElementList to, long bytes) {
        failure = Outcome.DONE;
        boolean moved = ElementList.forEachPiece(
                from,
                to,
                bytes,
                StagingBlock.DATA_BYTES,
                (source, sourceIndex, sourceDone, sink, sinkIndex, sinkDone, piece) ->
                        movePiece(peer, operation, source, sourceIndex, sourceDone, sink, sinkIndex, sinkDone, piece));
        return moved ? Outcome.DONE : failure();
    }

    private int failure() {
        return failure == Outcome.DONE ? WorkStatus.REMOTE_ACCESS_ERROR.code() : failure;
    }

    private boolean movePiece(
            PeerQueuePair peer,
            int operation,
            ElementList from,
            int source,
            long sourceDone,
            ElementList to,
            int sink,
            long sinkDone,
            long piece) {
        MemorySegment sourceSegment = from.segments[source];
        MemorySegment sinkSegment = to.segments[sink];
        long sourceAt = from.offsets[source] + sourceDone;
        long sinkAt = to.offsets[sink] + sinkDone;
        if (sourceSegment != null && sinkSegment != null) {
            ElementList.copyPiece(sourceSegment, sourceAt, sinkSegment, sinkAt, piece);
            return true;
        }
        MemorySegment own = control.memory();
        if (operation != StagingBlock.READ && sourceSegment != null) {
            if (!hasBlock()) {
                return false;
            }
            MemorySegment.copy(sourceSegment, sourceAt, own, block + StagingBlock.DATA, piece);
            return ask(peer, operation, to.keys[sink], to.addresses[sink] + sinkDone, piece, 0, 0);
        }
        if (sinkSegment == null
                || !ask(peer, operation, from.keys[source], from.addresses[source] + sourceDone, piece, 0, 0)) {
            return false;
        }
        ElementList.copyPiece(own, block + StagingBlock.DATA, sinkSegment, sinkAt, piece);
        return true;
    }

    /// Has the peer execute an atomic operation on memory that only it can access. It is never executed again: if the
    /// peer is gone afterwards, it counts as not answered.
    int atomic(PeerQueuePair peer, boolean compare, ElementList at, long operand, long swap, ElementList result) {
        failure = Outcome.DONE;
        int operation = compare ? StagingBlock.COMPARE_AND_SWAP : StagingBlock.FETCH_AND_ADD;
        if (!ask(peer, operation, at.keys[0], at.addresses[0], Long.BYTES, operand, swap)) {
            return failure == Outcome.NO_PEER ? WorkStatus.RETRY_EXCEEDED.code() : failure();
        }
        AtomicResult.store(result, control.memory().get(JAVA_LONG, block + StagingBlock.OLD));
        return Outcome.DONE;
    }

    /// Asks the peer, and asks again while its queue pair is ready but does not know its own peer yet. A queue pair
    /// publishes its state a moment before it knows its peer.
    private boolean ask(
            PeerQueuePair peer, int operation, int key, long address, long length, long operand, long swap) {
        long deadline = System.nanoTime() + ABSENCE_NANOS;
        int state = askOnce(peer, operation, key, address, length, operand, swap);
        while (state == StagingBlock.ABSENT && failure == Outcome.DONE) {
            if (!peer.isReady() || System.nanoTime() - deadline > 0) {
                failure = Outcome.NO_PEER;
            } else {
                LockSupport.parkNanos(PARK_NANOS);
                state = askOnce(peer, operation, key, address, length, operand, swap);
            }
        }
        return state == StagingBlock.FINISHED && failure == Outcome.DONE;
    }

    private int askOnce(
            PeerQueuePair peer, int operation, int key, long address, long length, long operand, long swap) {
        Client client = Objects.requireNonNull(current, "only on the stager's thread");
        Peer to = peer.peer();
        if (to == null || !hasBlock()) {
            return StagingBlock.REFUSED;
        }
        MemorySegment own = control.memory();
        own.set(JAVA_INT, block + StagingBlock.OPERATION, operation);
        own.set(JAVA_INT, block + StagingBlock.TARGET, to.lid());
        own.set(JAVA_INT, block + StagingBlock.KEY, key);
        own.set(JAVA_INT, block + StagingBlock.QUEUE_PAIR, peer.number());
        own.set(JAVA_LONG, block + StagingBlock.ADDRESS, address);
        own.set(JAVA_LONG, block + StagingBlock.LENGTH, length);
        own.set(JAVA_LONG, block + StagingBlock.OPERAND, operand);
        own.set(JAVA_LONG, block + StagingBlock.SWAP, swap);
        long asked = StagingBlock.word(++ticket, StagingBlock.ASKED);
        SharedWords.publish(own, block + StagingBlock.STATE, asked);
        copies.incrementAndGet();
        int state = StagingBlock.ASKED;
        client.pause();
        try {
            if (to.tell(Message.STAGE, 0, lid, block)) {
                state = awaitAnswer(client, to);
            }
            if (state != StagingBlock.FINISHED) {
                giveUp(to, asked);
            }
        } finally {
            failure = client.goOn();
        }
        if (failure == Outcome.DONE && StagingBlock.isUnanswered(state)) {
            failure = WorkStatus.RETRY_EXCEEDED.code();
        }
        return state;
    }

    /// Takes the request back if it was not answered.
    private void giveUp(Peer to, long asked) {
        MemorySegment own = control.memory();
        long at = block + StagingBlock.STATE;
        long served = StagingBlock.withState(asked, StagingBlock.SERVED);
        if (!SharedWords.compareAndSet(own, at, asked, StagingBlock.withState(asked, StagingBlock.WITHDRAWN))
                && SharedWords.acquire(own, at) == served) {
            lent.add(new Lent(to, block, served));
            block = 0;
        }
    }

    /// Waits for the peer to carry out what it was asked.
    ///
    /// @return the state of the block
    private int awaitAnswer(Client client, Peer from) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        int spins = 0;
        while (true) {
            int state = StagingBlock.state(SharedWords.acquire(control.memory(), block + StagingBlock.STATE));
            if (!StagingBlock.isUnanswered(state)
                    || closed
                    || client.isStopped()
                    || !from.isConnected()
                    || System.nanoTime() > deadline) {
                return state;
            }
            if (++spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
    }

    /// How many pieces the stager has asked peers to copy.
    long copies() {
        return copies.get();
    }

    /// A peer has finished what was asked of it.
    void finished() {
        var _ = unpark();
    }

    private @Nullable ServiceThread unpark() {
        ServiceThread running = thread;
        if (running != null) {
            running.unpark();
        }
        return running;
    }

    @Override
    public void close() {
        ServiceThread running;
        synchronized (this) {
            closed = true;
            running = thread;
        }
        if (running != null) {
            running.interrupt();
            var _ = running.join(JOIN_MILLIS);
        }
    }
}
