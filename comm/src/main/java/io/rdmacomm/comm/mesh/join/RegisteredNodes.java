package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.SetUpException;
import io.rdmacomm.comm.setup.Terms;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Which nodes have come to the rendezvous. When all are there, each gets the table; when all are ready, each
/// is told. Thread-safe; everything that nodes are sent is sent under the lock.
final class RegisteredNodes {
    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable RegisteredNode[] guests;
    private boolean complete;
    private boolean over;
    private String lastRefused = "";

    /// A node that has registered.
    private static final class RegisteredNode {
        private final NodeConnection visitor;
        private final Greeting greeting;
        private final NodeTable.Entry entry;
        private boolean ready;

        RegisteredNode(NodeConnection visitor, Greeting greeting, NodeTable.Entry entry) {
            this.visitor = visitor;
            this.greeting = greeting;
            this.entry = entry;
        }
    }

    RegisteredNodes(int size) {
        this.guests = new @Nullable RegisteredNode[size];
    }

    /// Adds a node; if it is the last one, all get the table.
    ///
    /// @param greeting what it speaks
    /// @param entry what the others are told
    /// @return why it cannot be added; empty if it was
    /// @throws SetUpException OTHER_VERSION if the nodes that are there have no version in common with it
    String add(int rank, NodeConnection visitor, Greeting greeting, NodeTable.Entry entry) {
        lock.lock();
        try {
            if (guests[rank] != null) {
                return "rank " + rank + " is there already";
            }
            Greeting common = common(rank, greeting);
            guests[rank] = new RegisteredNode(visitor, greeting, entry);
            if (absent().isEmpty()) {
                complete = true;
                sendAll(FrameType.TABLE, table(common.terms()).encode());
            }
            return "";
        } finally {
            lock.unlock();
        }
    }

    /// The versions and features that the registered nodes and one more have in common. The new one is compared last,
    /// because the registered nodes are known to have a version in common.
    private Greeting common(int rank, Greeting greeting) {
        Greeting others = null;
        for (RegisteredNode guest : guests) {
            if (guest != null) {
                others = others == null ? guest.greeting : others.common("a node", guest.greeting, "another one");
            }
        }
        return others == null ? greeting : others.common("the other nodes", greeting, "rank " + rank);
    }

    private NodeTable table(Terms terms) {
        SecureRandom random = new SecureRandom();
        List<NodeTable.Entry> entries = new ArrayList<>(guests.length);
        for (RegisteredNode guest : guests) {
            if (guest != null) {
                entries.add(guest.entry);
            }
        }
        return new NodeTable(new UUID(random.nextLong(), random.nextLong()), terms, entries);
    }

    /// A node is connected with all others; if it is the last one, all are told.
    void ready(int rank) {
        lock.lock();
        try {
            RegisteredNode guest = guests[rank];
            if (guest != null) {
                guest.ready = true;
            }
            if (complete
                    && !over
                    && ranks(other -> other == null || !other.ready).isEmpty()) {
                over = true;
                sendAll(FrameType.READY, ByteBuffer.allocate(0));
            }
        } finally {
            lock.unlock();
        }
    }

    /// A node has gone or has waited too long. Before all were there, it may come again; after that, all others
    /// are told that the mesh will not be complete.
    ///
    /// @param why what has happened to it
    void remove(int rank, String why) {
        lock.lock();
        try {
            RegisteredNode guest = guests[rank];
            if (guest == null || over) {
                return;
            }
            guests[rank] = null;
            if (complete) {
                refuseAll("rank " + rank + " " + why + " while the nodes were connecting");
            }
        } finally {
            lock.unlock();
        }
    }

    /// A node has waited too long: it is told for whom.
    void dismiss(int rank, Duration patience) {
        lock.lock();
        try {
            RegisteredNode guest = guests[rank];
            if (guest != null && !over) {
                guest.visitor.refuse("not all nodes came within " + patience.toMillis() + " ms; " + missing());
                remove(rank, "waited too long");
            }
        } finally {
            lock.unlock();
        }
    }

    /// Why the mesh is not there yet.
    private String missing() {
        String words = complete
                ? "not yet connected with all others: " + words(ranks(guest -> guest == null || !guest.ready))
                : "missing: " + words(absent());
        return words + (lastRefused.isEmpty() ? "" : "; last turned away: " + lastRefused);
    }

    /// Notes somebody who was turned away.
    void refused(String words) {
        lock.lock();
        try {
            lastRefused = words;
        } finally {
            lock.unlock();
        }
    }

    /// Tells all who still wait that the node that listens has given up, and who was missing.
    void giveUp() {
        lock.lock();
        try {
            refuseAll("the node that listens at the rendezvous has given up; " + missing());
        } finally {
            lock.unlock();
        }
    }

    private void refuseAll(String why) {
        lock.lock();
        try {
            if (over) {
                return;
            }
            over = true;
            for (RegisteredNode guest : guests) {
                if (guest != null) {
                    guest.visitor.refuse(why);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void sendAll(FrameType type, ByteBuffer payload) {
        for (RegisteredNode guest : guests) {
            if (guest != null) {
                guest.visitor.send(type, payload.duplicate());
            }
        }
    }

    private List<Integer> absent() {
        return ranks(Objects::isNull);
    }

    private List<Integer> ranks(Predicate<@Nullable RegisteredNode> condition) {
        return IntStream.range(0, guests.length)
                .filter(rank -> condition.test(guests[rank]))
                .boxed()
                .toList();
    }

    private static String words(List<Integer> ranks) {
        return (ranks.size() == 1 ? "rank " : "ranks ")
                + ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }
}
