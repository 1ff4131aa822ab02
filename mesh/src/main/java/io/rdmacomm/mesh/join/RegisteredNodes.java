package io.rdmacomm.mesh.join;

import io.rdmacomm.comm.exchange.Exchange;
import io.rdmacomm.verbs.RdmaException;
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

/// The nodes that have registered at the rendezvous. When all have registered, each gets TABLE; when all are ready,
/// each gets READY. Thread-safe; all messages are sent under the lock.
final class RegisteredNodes {
    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable RegisteredNode[] nodes;
    private boolean complete;
    private boolean over;
    private String lastRefused = "";

    /// A node that has registered.
    private static final class RegisteredNode {
        private final Exchange exchange;
        private final NodeTable.Entry entry;
        private boolean ready;

        RegisteredNode(Exchange exchange, NodeTable.Entry entry) {
            this.exchange = exchange;
            this.entry = entry;
        }
    }

    RegisteredNodes(int size) {
        this.nodes = new @Nullable RegisteredNode[size];
    }

    /// Adds a node; if it is the last one, all get the table.
    ///
    /// @param entry its entry in the table
    /// @return the reason why it cannot be added; empty if it was
    String add(int rank, Exchange exchange, NodeTable.Entry entry) {
        lock.lock();
        try {
            if (nodes[rank] != null) {
                return "rank " + rank + " is there already";
            }
            if (over) {
                return "the nodes have given up";
            }
            nodes[rank] = new RegisteredNode(exchange, entry);
            if (absent().isEmpty()) {
                complete = true;
                sendAll(table().encode());
            }
            return "";
        } finally {
            lock.unlock();
        }
    }

    private NodeTable table() {
        SecureRandom random = new SecureRandom();
        List<NodeTable.Entry> entries = new ArrayList<>(nodes.length);
        int version = Integer.MAX_VALUE;
        long features = -1;
        for (RegisteredNode node : nodes) {
            if (node != null) {
                entries.add(node.entry);
                version = Math.min(version, node.exchange.version());
                features &= node.exchange.features();
            }
        }
        return new NodeTable(new UUID(random.nextLong(), random.nextLong()), version, features, entries);
    }

    /// Records that a node is connected with all others; if it is the last one, all get READY.
    void ready(int rank) {
        lock.lock();
        try {
            RegisteredNode node = nodes[rank];
            if (node != null) {
                node.ready = true;
            }
            if (complete
                    && !over
                    && ranks(other -> other == null || !other.ready).isEmpty()) {
                over = true;
                sendAll(MessageType.READY.begin(0).flip());
            }
        } finally {
            lock.unlock();
        }
    }

    /// Removes a node that is gone or has waited too long. Before all have registered, it may register again; after
    /// that, the mesh will not be complete, and all others are rejected.
    ///
    /// @param why what has happened to it
    void remove(int rank, String why) {
        lock.lock();
        try {
            RegisteredNode node = nodes[rank];
            if (node == null || over) {
                return;
            }
            nodes[rank] = null;
            if (complete) {
                refuseAll("rank " + rank + " " + why + " while the nodes were connecting");
            }
        } finally {
            lock.unlock();
        }
    }

    /// Rejects a node that has waited too long. The message names the missing ranks.
    void dismiss(int rank, Duration timeout) {
        lock.lock();
        try {
            RegisteredNode node = nodes[rank];
            if (node != null && !over) {
                node.exchange.refuse("not all nodes came within " + timeout.toMillis() + " ms; " + missing());
                remove(rank, "waited too long");
            }
        } finally {
            lock.unlock();
        }
    }

    /// The reason why the mesh is not complete yet.
    private String missing() {
        String words = complete
                ? "not yet connected with all others: " + words(ranks(node -> node == null || !node.ready))
                : "missing: " + words(absent());
        return words + (lastRefused.isEmpty() ? "" : "; last turned away: " + lastRefused);
    }

    /// Records a connection that was rejected.
    void refused(String words) {
        lock.lock();
        try {
            lastRefused = words;
        } finally {
            lock.unlock();
        }
    }

    /// Rejects all nodes that still wait, because the node that listens has given up.
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
            for (RegisteredNode node : nodes) {
                if (node != null) {
                    node.exchange.refuse(why);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void sendAll(ByteBuffer message) {
        for (RegisteredNode node : nodes) {
            if (node != null) {
                send(node.exchange, message.duplicate());
            }
        }
    }

    private static void send(Exchange exchange, ByteBuffer message) {
        try {
            exchange.send(message);
        } catch (RdmaException e) {
            // The thread that receives from this node also notices that it is gone.
        }
    }

    private List<Integer> absent() {
        return ranks(Objects::isNull);
    }

    private List<Integer> ranks(Predicate<@Nullable RegisteredNode> condition) {
        return IntStream.range(0, nodes.length)
                .filter(rank -> condition.test(nodes[rank]))
                .boxed()
                .toList();
    }

    private static String words(List<Integer> ranks) {
        return (ranks.size() == 1 ? "rank " : "ranks ")
                + ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }
}
