package io.rdmacomm.comm;

import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.ChannelInfo;
import io.rdmacomm.comm.endpoint.HandlerErrors;
import io.rdmacomm.comm.setup.AcceptingConnector;
import io.rdmacomm.comm.setup.AgreedVersion;
import io.rdmacomm.comm.setup.ConnectEvent;
import io.rdmacomm.comm.setup.ConnectionPorts;
import io.rdmacomm.comm.setup.EndPointInfo;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.HandshakePreamble;
import io.rdmacomm.comm.setup.PeerLocation;
import io.rdmacomm.comm.setup.Proof;
import io.rdmacomm.comm.setup.Protocol;
import io.rdmacomm.comm.setup.QueuePairConnector;
import io.rdmacomm.comm.setup.RequestingConnector;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.SetupLine;
import io.rdmacomm.comm.setup.SetupOffer;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.VerbException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;

/// The exchange that turns a TCP connection into an endpoint: each side sends a frame with versions, one with
/// its parameters, and one when its receives are posted. A client that only sends HELLO costs the server
/// neither threads nor receives.
///
/// ```
/// client                          server
///   | GREETING versions, features   |
///   |------------------------------>|
///   |   GREETING versions, features |
///   |<------------------------------|
///   | HELLO name, link, channels    |   client: queue pairs exist
///   |------------------------------>|
///   |  WELCOME name, link, channels |   server: queue pairs exist
///   |<------------------------------|
///   | READY                         |   client: queue pairs are up, receives posted
///   |------------------------------>|
///   |                         READY |   server: the same
///   |<------------------------------|
/// ```
///
/// HELLO contains the ways in which the client's device can connect queue pairs. WELCOME contains the way that the
/// server has chosen: by the numbers in these frames, or by the server's connection manager. With the connection
/// manager, the client connects each queue pair between WELCOME and READY ([RequestingConnector],
/// [AcceptingConnector]).
///
/// Instead of any of these, either side may send REFUSE with a reason; the server may also send BUSY, and then the
/// client tries again. The TLS handshake, if any, comes first. With a secret, both sides prove that they have it
/// before HELLO ([HandshakePreamble]). With TLS or a secret, nothing is allocated before the peer is authenticated.
///
/// After the greetings, both sides use the agreed version, and the features that both have. Both ignore bytes
/// after the fields that they know.
record Handshake(SessionDevice device, SessionSettings settings, HandlerErrors errors) {
    private static final Greeting GREETING = new Greeting(Protocol.SESSION, 1, 1, 0);
    /// Failures that the peer has reported or knows already; both sides know both ranges of versions.
    private static final Set<Reason> KNOWN_TO_PEER =
            EnumSet.of(Reason.REFUSED, Reason.BUSY, Reason.UNPROVED, Reason.OTHER_VERSION);

    /// Connects to a server and performs the handshake. This side is prepared first, so that the server does
    /// not have to wait. On failure, the peer receives the reason and everything is freed.
    ///
    /// @param server the server's name in messages
    /// @param reach connects to it
    /// @param owner of the connection
    PeerConnection connect(String server, Supplier<TcpConnector> reach, ConnectionOwner owner) {
        HandshakePreamble preamble = preamble();
        if (preamble.isDemanding()) {
            // Nothing is allocated before the server is authenticated.
            TcpConnector connector = reached(reach);
            return timed(connector, () -> {
                AgreedVersion agreed = preamble.asClient(connector, step());
                return asClient(endPoint(settings, server, settings.data().count(), owner), connector, () -> agreed);
            });
        }
        PeerConnection endPoint = endPoint(settings, server, settings.data().count(), owner);
        TcpConnector connector = null;
        try {
            connector = reached(reach);
        } finally {
            if (connector == null) {
                endPoint.abandon();
            }
        }
        TcpConnector open = connector;
        return timed(open, () -> asClient(endPoint, open, () -> preamble.asClient(open, step())));
    }

    private static TcpConnector reached(Supplier<TcpConnector> reach) {
        try {
            return reach.get();
        } catch (SetupException e) {
            throw Failures.ofSetup(e);
        }
    }

    private PeerConnection endPoint(SessionSettings complete, String peer, int count, ConnectionOwner owner) {
        PeerConnection made = new PeerConnection(device, complete, peer, count, errors, owner);
        owner.made(made);
        return made;
    }

    /// @param preamble authenticates the server, or returns the result of an earlier one
    private PeerConnection asClient(PeerConnection endPoint, TcpConnector connector, Supplier<AgreedVersion> preamble) {
        return finish(endPoint, connector, () -> {
            endPoint.agreed(preamble.get());
            SetupOffer own = ownOffer();
            connector.send(FrameType.HELLO, endPoint.info(own).encode());
            ByteBuffer answer = connector.receive(FrameType.WELCOME, step());
            EndPointInfo peer = EndPointInfo.decode(answer, connector.peer());
            checkLink(connector, peer);
            if (own.agreeOnNumbers(peer.setup(), connector.peer())) {
                checkLocation(connector, peer);
            }
            endPoint.bringUp(connector, peer, requesting(connector, own, peer.setup()), false);
        });
    }

    private HandshakePreamble preamble() {
        Tls tls = settings.trust().tls();
        Secret secret = settings.trust().secret();
        return new HandshakePreamble(
                tls == null ? null : tls::engine,
                GREETING,
                new Proof(secret == null ? null : secret::authenticate, FrameType.HELLO));
    }

    /// The connector for the queue pairs of a client, according to the server's answer.
    private QueuePairConnector requesting(TcpConnector connector, SetupOffer own, SetupOffer answer) {
        if (own.agreeOnNumbers(answer, connector.peer())) {
            return QueuePairConnector.BY_NUMBERS;
        }
        int port = settings.addressing().connectionPort() == 0
                ? answer.port()
                : settings.addressing().connectionPort();
        Bounds.range("port of the server's connection manager", port, 1, 65535);
        // Behind a port forward, the server's own address is unknown or unreachable: use the address that was
        // reached.
        return new RequestingConnector(
                device.connections(), new InetSocketAddress(connector.remoteAddress(), port), answer.token(), step());
    }

    /// Performs the handshake with a client. On failure, the peer receives the reason and everything is
    /// freed, the connector included.
    ///
    /// @param ports the listener for its queue pairs, if the connection manager connects them
    /// @param places for clients
    /// @param line for clients that are not authenticated
    /// @param known runs when the client is authenticated or, without a secret, has sent HELLO
    /// @param owner of the connection
    PeerConnection accept(
            TcpConnector connector,
            ConnectionPorts ports,
            ClientQuota places,
            SetupLine line,
            Runnable known,
            ConnectionOwner owner) {
        return timed(connector, () -> asServer(connector, ports, places, line, known, owner));
    }

    private static PeerConnection timed(TcpConnector connector, Supplier<PeerConnection> steps) {
        ConnectEvent event = FlightRecorder.isInitialized() ? new ConnectEvent() : null;
        if (event != null) {
            event.begin();
        }
        long start = System.nanoTime();
        boolean done = false;
        try {
            PeerConnection endPoint = steps.get();
            endPoint.setupTime(Duration.ofNanos(System.nanoTime() - start));
            done = true;
            if (event != null && event.shouldCommit()) {
                event.endPoint = endPoint.name();
                event.channels = endPoint.data().size();
                event.protocolVersion = endPoint.agreed().version();
                event.features = endPoint.agreed().features();
                event.commit();
            }
            return endPoint;
        } catch (SetupException e) {
            throw refused(connector, Failures.ofSetup(e));
        } catch (VerbException | IllegalArgumentException | IllegalStateException e) {
            throw refused(connector, new RdmaException("setting up " + connector + " failed: " + e.getMessage(), e));
        } catch (RdmaException e) {
            throw refused(connector, e);
        } finally {
            if (!done) {
                connector.close();
            }
        }
    }

    private static RdmaException refused(TcpConnector connector, RdmaException why) {
        refuse(connector, why);
        Failures.record(connector.peer(), why);
        return why;
    }

    private PeerConnection asServer(
            TcpConnector connector,
            ConnectionPorts ports,
            ClientQuota places,
            SetupLine line,
            Runnable known,
            ConnectionOwner owner) {
        HandshakePreamble preamble = preamble();
        boolean proves = preamble.isDemanding();
        HandshakePreamble.AcceptedClient client = preamble.asServer(connector, step(), proves ? known : () -> {});
        EndPointInfo peer = EndPointInfo.decode(client.next(), connector.peer());
        int count = peer.channels().size() - 1;
        if (count > settings.data().most()) {
            throw new RdmaException(
                    connector.peer() + " asks for " + count + " data channels, "
                            + settings.data().most()
                            + " are granted at most; ask for fewer, or raise SessionOptions.withMaxChannels of the server",
                    null);
        }
        checkLink(connector, peer);
        SessionSettings complete = device.forConnection(settings, connector::localAddress);
        boolean byNumbers = isByNumbers(complete, connector, peer);
        if (byNumbers) {
            checkLocation(connector, peer);
        }
        if (proves) {
            return setUp(connector, client.agreed(), peer, complete, byNumbers, ports, places, owner, () -> {});
        }
        // Half the time, so that a client without a turn gets BUSY before its own deadline.
        try (SetupLine.Turn turn = line.enter(connector, step().dividedBy(2))) {
            known.run();
            return setUp(connector, client.agreed(), peer, complete, byNumbers, ports, places, owner, turn::waits);
        }
    }

    private PeerConnection setUp(
            TcpConnector connector,
            AgreedVersion agreed,
            EndPointInfo peer,
            SessionSettings complete,
            boolean byNumbers,
            ConnectionPorts ports,
            ClientQuota places,
            ConnectionOwner owner,
            Runnable waits) {
        PeerConnection endPoint = endPoint(complete, connector, peer.channels().size() - 1, places, owner);
        endPoint.agreed(agreed);
        return finish(endPoint, connector, () -> {
            if (byNumbers) {
                SetupOffer numbers = new SetupOffer(true, false, 0, 0);
                connector.send(FrameType.WELCOME, endPoint.info(numbers).encode());
                waits.run();
                endPoint.bringUp(connector, peer, QueuePairConnector.BY_NUMBERS, true);
            } else {
                byConnections(endPoint, connector, peer, ports, waits);
            }
        });
    }

    /// The endpoint for a client that is authenticated and has sent its HELLO.
    private PeerConnection endPoint(
            SessionSettings complete, TcpConnector connector, int count, ClientQuota places, ConnectionOwner owner) {
        ClientQuota.Place place = places.take(connector.remoteAddress(), connector.peer());
        boolean made = false;
        try {
            PeerConnection endPoint = endPoint(complete, connector.peer(), count, place.in(owner));
            made = true;
            return endPoint;
        } finally {
            if (!made) {
                place.close();
            }
        }
    }

    /// Decides how the queue pairs of a client are connected: by numbers if both devices can and the numbers
    /// lead the two sides to each other, otherwise by the connection manager. WELCOME contains the decision.
    private boolean isByNumbers(SessionSettings complete, TcpConnector connector, EndPointInfo peer) {
        SetupOffer own = ownOffer();
        if (!own.agreeOnNumbers(peer.setup(), connector.peer())) {
            return false;
        }
        boolean choice = own.connections() && peer.setup().connections();
        return !choice
                || PeerLocation.isMutual(
                        device.context(),
                        device.numbers(complete),
                        peer.channels().getFirst().queuePair(),
                        connector,
                        settings.trust().foreignGids());
    }

    private void checkLink(TcpConnector connector, EndPointInfo peer) {
        LinkLayer here = device.port().linkLayer();
        if (peer.linkLayer() != here) {
            throw new RdmaException(
                    "this device is on " + here + ", that of " + connector.peer() + " on " + peer.linkLayer()
                            + "; choose devices on the same network",
                    null);
        }
    }

    /// Checks that the numbers of a peer lead to its host. The connection manager ignores them.
    private void checkLocation(TcpConnector connector, EndPointInfo peer) {
        if (!settings.trust().foreignGids()) {
            List<QueuePairInfo> numbers = new ArrayList<>();
            for (ChannelInfo channel : peer.channels()) {
                numbers.add(channel.queuePair());
            }
            PeerLocation.check(device.context(), numbers, connector.remoteAddress(), connector.peer());
        }
    }

    /// Lets the client connect its queue pairs one after the other, and posts the receives of each once it is
    /// connected.
    private void byConnections(
            PeerConnection endPoint, TcpConnector connector, EndPointInfo peer, ConnectionPorts ports, Runnable waits) {
        try (AcceptingConnector accepting = ports.at(connector.localAddress()).expect(step())) {
            connector.send(FrameType.WELCOME, endPoint.info(accepting.offer()).encode());
            waits.run();
            endPoint.bringUp(connector, peer, accepting, false);
        }
    }

    private static PeerConnection finish(PeerConnection endPoint, TcpConnector connector, Runnable steps) {
        boolean done = false;
        try {
            steps.run();
            done = true;
            return endPoint;
        } catch (SetupException e) {
            RdmaException why = Failures.ofSetup(e);
            refuse(connector, why);
            throw why;
        } catch (RuntimeException e) {
            // Must be sent while the connection is open.
            refuse(connector, e);
            throw e;
        } finally {
            if (!done) {
                endPoint.abandon();
            }
        }
    }

    private static void refuse(TcpConnector connector, RuntimeException why) {
        boolean knows = PeerFailedException.is(PeerFailedException.Reason.GONE, why)
                || (why instanceof SetupFailedException failed && KNOWN_TO_PEER.contains(failed.reason()));
        if (!knows) {
            connector.refuse(String.valueOf(why.getMessage()));
        }
    }

    private SetupOffer ownOffer() {
        return SetupOffer.of(
                device.context(),
                settings.addressing().setup() != Setup.CONNECTION_MANAGER,
                settings.addressing().setup() != Setup.NUMBERS);
    }

    private Duration step() {
        return settings.deadlines().handshake();
    }
}
