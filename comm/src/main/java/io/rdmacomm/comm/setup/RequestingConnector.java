package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetSocketAddress;
import java.time.Duration;

/// The client's side of the setup by connection manager.
public final class RequestingConnector implements QueuePairConnector {
    private final ConnectionManager manager;
    private final InetSocketAddress server;
    private final long token;
    private final Duration timeout;
    private int channel;

    /// @param server where the server's connection manager listens
    /// @param token the number that the server has given this client
    /// @param timeout how long each step may take
    public RequestingConnector(ConnectionManager manager, InetSocketAddress server, long token, Duration timeout) {
        this.manager = manager;
        this.server = server;
        this.token = token;
        this.timeout = timeout;
    }

    @Override
    public Connection connect(QueuePair queuePair, QueuePairInfo peer, ConnectionOptions how, Runnable receives) {
        ConnectionTicket ticket = new ConnectionTicket(token, channel++);
        try (Route route = manager.resolve(server, IdentifierOptions.of(how.path()), timeout)) {
            route.prepare(queuePair);
            receives.run();
            return route.connect(queuePair, ticket.parameters(how), timeout);
        } catch (DeadlineException e) {
            throw new SetupException(Reason.DEADLINE_PASSED, unreached(e), e);
        } catch (ConnectionRejectedException | PeerUnreachableException | ConnectFailedException e) {
            throw new SetupException(Reason.REFUSED, unreached(e), e);
        } catch (RdmaInterruptedException e) {
            throw new SetupException(Reason.INTERRUPTED, e.getMessage(), e);
        }
    }

    private String unreached(RdmaException e) {
        return "the queue pairs do not reach the server: " + e.getMessage()
                + "; firewalls and port forwards have to let port " + server.getPort()
                + " through, in addition to that of the session, and the host has to be an address of the server's device";
    }

    /// On iWARP the side that requested the connection must send first (RFC 5044, section 7.1.2).
    @Override
    public boolean sendsFirst() {
        return true;
    }
}
