package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Supplier;

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
record HandShake(SessionDevice device, SessionOptions options) {
    /// Connects to a server and shakes hands. The own side is made ready first, so that the server is not
    /// kept waiting. If that fails, the peer is told why and everything is freed.
    ///
    /// @param server what to call the server
    /// @param reach connects to it
    EndPoint connect(String server, Supplier<TcpConnector> reach, EndPoint.Owner owner) {
        EndPoint endPoint = new EndPoint(device, options, server, options.channels(), owner);
        TcpConnector connector;
        try {
            connector = reach.get();
        } catch (RuntimeException e) {
            endPoint.abandon();
            throw e;
        }
        return timed(
                connector,
                () -> finish(endPoint, connector, () -> {
                    connector.send(FrameType.HELLO, endPoint.info().encode());
                    ByteBuffer answer = connector.receive(FrameType.WELCOME, step());
                    endPoint.bringUp(connector, EndPointInfo.decode(answer, connector.peer()));
                }));
    }

    /// Shakes hands with a client. If that fails, the peer is told why and everything is freed, the
    /// connector included.
    EndPoint accept(TcpConnector connector, EndPoint.Owner owner) {
        return timed(connector, () -> asServer(connector, owner));
    }

    private static EndPoint timed(TcpConnector connector, Supplier<EndPoint> steps) {
        ConnectEvent event = new ConnectEvent();
        event.begin();
        long start = System.nanoTime();
        boolean done = false;
        try {
            EndPoint endPoint = steps.get();
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
        SessionOptions settled = device.settle(options, connector::localGid);
        EndPoint endPoint = new EndPoint(device, settled, connector.peer(), count, owner);
        return finish(endPoint, connector, () -> {
            connector.send(FrameType.WELCOME, endPoint.info().encode());
            endPoint.bringUp(connector, peer);
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
