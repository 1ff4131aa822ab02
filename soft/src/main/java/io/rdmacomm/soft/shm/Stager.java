package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.transport.Engine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The staging blocks of a context, and whose turn it is to use one. Through such a block an initiator asks the
/// peer's engine to copy to or from memory that only the peer can access: see [StagedRequest].
///
/// Each peer has one block at a time, so a stopped peer takes neither blocks nor time from the others. No thread
/// waits here: a request that needs a block is notified when its turn has come. Thread-safe.
final class Stager {
    /// A request that needs a block.
    interface Client {
        /// Its turn has come, or the peer has answered. Called on the engine's thread, without locks. Must not block.
        void onTurn();
    }

    /// A block whose request was withdrawn while the peer was executing it.
    private record Lent(ShmPeer to, long block, long served) {}

    private final ControlFile control;
    private final Engine engine;
    private final AtomicLong tickets = new AtomicLong();
    private final Map<ShmPeer, Lane> lanes = new ConcurrentHashMap<>();
    private final Deque<Long> free = new ArrayDeque<>();
    private final Deque<Lent> lent = new ArrayDeque<>();

    Stager(ControlFile control, Engine engine) {
        this.control = control;
        this.engine = engine;
    }

    /// The requests that need a block for this peer.
    Lane lane(ShmPeer to) {
        return lanes.computeIfAbsent(to, peer -> new Lane());
    }

    /// The peer has parted; its lane is empty.
    void forget(ShmPeer parted) {
        lanes.remove(parted);
    }

    /// The peer reports that it has answered; on the engine's thread.
    void answered(@Nullable ShmPeer by) {
        Lane lane = by == null ? null : lanes.get(by);
        Client first = lane == null ? null : lane.first();
        if (first != null) {
            first.onTurn();
        }
    }

    /// The memory that contains the blocks.
    MemorySegment memory() {
        return control.memory();
    }

    /// A unique request number.
    long nextTicket() {
        return tickets.incrementAndGet();
    }

    /// How many pieces peers were asked to copy.
    long copies() {
        return tickets.get();
    }

    /// Takes a free block, or one that the peer has finished with.
    ///
    /// @throws IOException if there is no room
    synchronized long takeBlock() throws IOException {
        for (Iterator<Lent> each = lent.iterator(); each.hasNext(); ) {
            Lent one = each.next();
            long state = SharedWords.acquire(memory(), one.block + StagingBlock.STATE);
            if (state != one.served || one.to.isGone()) {
                each.remove();
                free.add(one.block);
            }
        }
        return free.isEmpty() ? control.allocate(StagingBlock.BYTES) : free.remove();
    }

    /// Gives back a block that is no longer used.
    synchronized void giveBack(long block) {
        free.addFirst(block);
    }

    /// Withdraws a request. Its block is free now or, if the peer has begun to execute the request, when it has
    /// finished.
    ///
    /// @param asked the word of the request
    void withdraw(ShmPeer to, long block, long asked) {
        long at = block + StagingBlock.STATE;
        long served = StagingBlock.withState(asked, StagingBlock.SERVED);
        boolean begun =
                !SharedWords.compareAndSet(memory(), at, asked, StagingBlock.withState(asked, StagingBlock.WITHDRAWN))
                        && SharedWords.acquire(memory(), at) == served;
        synchronized (this) {
            if (begun) {
                lent.add(new Lent(to, block, served));
            } else {
                free.addFirst(block);
            }
        }
    }

    /// The requests that need a block for one peer, in order. Thread-safe.
    final class Lane {
        private final Deque<Client> clients = new ArrayDeque<>();
        private volatile long lastAnswer = System.nanoTime();

        /// Adds a request at the end.
        synchronized void enter(Client client) {
            clients.add(client);
        }

        /// Whether it is the turn of `client`.
        boolean isTurnOf(Client client) {
            return client.equals(first());
        }

        private synchronized @Nullable Client first() {
            return clients.peekFirst();
        }

        /// Removes a request, and notifies the next one if its turn has come.
        void leave(Client client) {
            Client next;
            synchronized (this) {
                boolean wasFirst = isTurnOf(client);
                clients.remove(client);
                next = wasFirst ? first() : null;
            }
            if (next != null) {
                engine.execute(next::onTurn);
            }
        }

        /// Notes that the peer has answered, so it is alive.
        void answered() {
            lastAnswer = System.nanoTime();
        }

        /// When the peer last answered, as [System#nanoTime()].
        long lastAnswer() {
            return lastAnswer;
        }
    }
}
