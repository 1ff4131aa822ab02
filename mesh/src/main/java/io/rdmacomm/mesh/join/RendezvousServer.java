package io.rdmacomm.mesh.join;

import io.rdmacomm.comm.exchange.Exchange;
import io.rdmacomm.comm.exchange.ExchangeOptions;
import io.rdmacomm.comm.exchange.ExchangeServer;
import io.rdmacomm.mesh.launch.MeetingPoint;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// The port where the nodes of a mesh meet. Each node has an exchange with it, whose messages are:
///
/// ```
/// node                            rendezvous
///   | REGISTER size, rank, port     |
///   |------------------------------>|   keeps it; waits for the others
///   |                         TABLE |   when all have registered
///   |<------------------------------|
///   | READY                         |   when connected with all others
///   |------------------------------>|
///   |                         READY |   when all are
///   |<------------------------------|
/// ```
///
/// A refusal with a reason may come at any time. TABLE has the version and the features that all nodes have in common.
/// A stranger costs one thread, which ends after one step of the handshake; if there are too many, the oldest is
/// displaced.
final class RendezvousServer implements AutoCloseable, ExchangeServer.Handler {
    private final NodeRegistration own;
    private final RegisteredNodes nodes;
    private final ExchangeServer server;

    private RendezvousServer(String host, int port, NodeRegistration own, ExchangeOptions options) {
        this.own = own;
        this.nodes = new RegisteredNodes(own.size());
        // All nodes may be on one host, and come at the same time.
        this.server = ExchangeServer.listen(host, port, options.withMaxUnproved(MeetingPoint.MAX_SIZE), this);
    }

    /// Listens.
    ///
    /// @param host the address to listen on; see [ExchangeServer#listen]
    /// @param own the registration of this node, which the others must match
    /// @param options the handshake with the others, and how long each of its steps may take
    /// @throws io.rdmacomm.comm.SetupFailedException if that is not possible
    static RendezvousServer listen(String host, int port, NodeRegistration own, ExchangeOptions options) {
        return new RendezvousServer(host, port, own, options);
    }

    @Override
    public void converse(Exchange exchange) {
        String refusal;
        try {
            NodeRegistration node = NodeRegistration.decode(exchange.receive(own.timeout()));
            refusal = node.difference(own);
            if (refusal.isEmpty()) {
                refusal = nodes.add(node.rank(), exchange, new NodeTable.Entry(address(exchange), node.sessionPort()));
            }
            if (refusal.isEmpty()) {
                await(node, exchange);
                return;
            }
        } catch (IllegalArgumentException e) {
            refusal = String.valueOf(e.getMessage());
        }
        nodes.refused(exchange.peer() + ": " + refusal);
        exchange.refuse(refusal);
        // The server logs it.
        throw new RdmaException("the rendezvous turned it away: " + refusal, null);
    }

    @Override
    public void refused(String peer, RdmaException why) {
        nodes.refused(peer + ": " + why.getMessage());
    }

    /// The address of a node for the others; null if it is on this host.
    private static @Nullable InetAddress address(Exchange exchange) {
        InetAddress from = exchange.remoteAddress();
        return from.isLoopbackAddress() || from.equals(exchange.localAddress()) ? null : from;
    }

    /// Waits until a node is ready and then until it ends, or until its time is up.
    private void await(NodeRegistration node, Exchange exchange) {
        int rank = node.rank();
        try {
            MessageType.READY.takeFrom(exchange.receive(node.timeout()));
            nodes.ready(rank);
            // Nothing more arrives: this is the end of the node's exchange.
            var _ = exchange.awaitEnd();
            nodes.remove(rank, "went away");
        } catch (DeadlineException e) {
            nodes.dismiss(rank, node.timeout());
        } catch (RdmaException | IllegalArgumentException e) {
            nodes.remove(rank, "went away");
        }
    }

    /// Stops listening and ends all exchanges. Nodes that still wait are refused.
    @Override
    public void close() {
        // First, because nodes that are refused later do not learn it: the server closes their exchanges.
        nodes.giveUp();
        server.close();
    }
}
