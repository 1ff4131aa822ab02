package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.nio.ByteBuffer;
import java.time.Duration;

/// The exchange that turns a TCP connection into an end point: one frame each way with everything, then one
/// each way that says that receives are posted.
///
/// ```
/// client                          server
///   | HELLO name, link, channels    |   client: queue pairs exist
///   |------------------------------>|
///   |  WELCOME name, link, channels |   server: queue pairs exist
///   |<------------------------------|
///   | READY                   READY |   each: queue pairs are up, receives posted
///   |<----------------------------->|
/// ```
///
/// Instead of WELCOME or READY either side may send REFUSE with a reason.
///
/// @param client whether this side speaks first
record HandShake(SessionDevice device, SessionOptions options, boolean client) {
    /// Shakes hands. If that fails, the peer is told why and everything is freed, the connector included.
    EndPoint run(TcpConnector connector, EndPoint.Owner owner) {
        ConnectEvent event = new ConnectEvent();
        event.begin();
        long start = System.nanoTime();
        boolean done = false;
        try {
            EndPoint endPoint = client ? asClient(connector, owner) : asServer(connector, owner);
            endPoint.setUpTime(Duration.ofNanos(System.nanoTime() - start));
            done = true;
            if (event.shouldCommit()) {
                event.endPoint = endPoint.name();
                event.channels = endPoint.channels().size();
                event.commit();
            }
            return endPoint;
        } catch (CommException e) {
            throw refused(connector, e);
        } catch (RdmaException | IllegalArgumentException | IllegalStateException e) {
            throw refused(connector, new CommException("setting up " + connector + " failed: " + e.getMessage(), e));
        } finally {
            if (!done) {
                connector.close();
            }
        }
    }

    private static CommException refused(TcpConnector connector, CommException why) {
        refuse(connector, why);
        ErrorEvent.report(connector.peer(), why);
        return why;
    }

    private EndPoint asClient(TcpConnector connector, EndPoint.Owner owner) {
        EndPoint endPoint = new EndPoint(device, options, connector, options.channels(), owner);
        return finish(endPoint, connector, () -> {
            connector.send(FrameType.HELLO, endPoint.info().encode());
            ByteBuffer answer = connector.receive(FrameType.WELCOME, step());
            endPoint.bringUp(EndPointInfo.decode(answer, connector.peer()));
        });
    }

    private EndPoint asServer(TcpConnector connector, EndPoint.Owner owner) {
        ByteBuffer hello = connector.receive(FrameType.HELLO, step());
        EndPointInfo peer = EndPointInfo.decode(hello, connector.peer());
        int count = peer.channels().size() - 1;
        if (count > options.maxChannels()) {
            throw new CommException(
                    connector.peer() + " asks for " + count + " data channels, " + options.maxChannels()
                            + " are granted at most",
                    null);
        }
        EndPoint endPoint = new EndPoint(device, options, connector, count, owner);
        return finish(endPoint, connector, () -> {
            connector.send(FrameType.WELCOME, endPoint.info().encode());
            endPoint.bringUp(peer);
        });
    }

    private static EndPoint finish(EndPoint endPoint, TcpConnector connector, Runnable steps) {
        boolean done = false;
        try {
            steps.run();
            done = true;
            return endPoint;
        } catch (RuntimeException e) {
            // As long as the connection is open.
            refuse(connector, e);
            throw e;
        } finally {
            if (!done) {
                endPoint.abandon();
            }
        }
    }

    private static void refuse(TcpConnector connector, RuntimeException why) {
        if (!(why instanceof PeerClosedException || why instanceof PeerRefusedException)) {
            connector.refuse(String.valueOf(why.getMessage()));
        }
    }

    private Duration step() {
        return options.deadlines().handshake();
    }
}
