package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.soft.roce.mad.ConnectReply;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.ConnectionMessage;
import io.rdmacomm.soft.roce.mad.DisconnectReply;
import io.rdmacomm.soft.roce.mad.DisconnectRequest;
import io.rdmacomm.soft.roce.mad.ManagementDatagram;
import io.rdmacomm.soft.roce.mad.MessageKind;
import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ReadyToUse;
import io.rdmacomm.soft.roce.mad.Receipt;
import io.rdmacomm.soft.roce.mad.Rejection;
import io.rdmacomm.soft.roce.mad.ServiceReply;
import io.rdmacomm.soft.roce.mad.ServiceRequest;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The connection manager of an address: all conversations, and the ports of listening programs (IBTA chapter 12).
/// Incoming messages are handled at once on the receiving thread. Thread-safe.
///
/// An unknown host that does not know the numbers of a conversation can only fill the backlog of a listening port.
public final class CommunicationManager {
    /// Sends management datagrams. The network may drop them.
    public interface Output {
        /// Sends [ManagementDatagram#BYTES] from the beginning of the buffer; under a lock, and does not block.
        void send(InetAddress to, ByteBuffer datagram);
    }

    /// The peer that sent a request, and its number for the request.
    private record Origin(InetAddress peer, int id) {}

    /// Rejections that are kept, to repeat them to peers that ask again.
    private static final int MOST_REFUSALS = 256;

    private static final SecureRandom RANDOM = new SecureRandom();

    final ReentrantLock lock = new ReentrantLock();

    private final Gid gid;
    private final PathMtu mtu;
    private final Output output;
    private final Runnable wakeup;
    private final LongSupplier clock;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(ManagementDatagram.BYTES);
    private final Map<Integer, Exchange> exchanges = new HashMap<>();
    private final Map<Origin, Conversation> requested = new HashMap<>();
    private final Map<Origin, ServiceInquiry> asked = new HashMap<>();
    private final Map<Origin, Rejection> refused = new LinkedHashMap<>();
    private final PortTable<Conversation> connectionPorts = new PortTable<>();
    private final PortTable<ServiceInquiry> datagramPorts = new PortTable<>();
    private final Set<Exchange> scheduled = new LinkedHashSet<>();
    private volatile boolean anyScheduled;

    /// @param gid of this side
    /// @param mtu the largest path MTU that this side can have
    /// @param wakeup makes an engine call [#onTime] soon; on any thread, under a lock
    public CommunicationManager(Gid gid, PathMtu mtu, Output output, Runnable wakeup) {
        this(gid, mtu, output, wakeup, System::nanoTime);
    }

    /// @param clock gives nanoseconds from any origin
    CommunicationManager(Gid gid, PathMtu mtu, Output output, Runnable wakeup, LongSupplier clock) {
        this.gid = gid;
        this.mtu = mtu;
        this.output = output;
        this.wakeup = wakeup;
        this.clock = clock;
    }

    // ---- The program ----

    /// Asks a peer for a connection.
    ///
    /// @param request makes the request from the number of the conversation
    public Conversation connect(InetAddress peer, IntFunction<ConnectRequest> request) {
        lock.lock();
        try {
            ConnectRequest own = request.apply(newId());
            Conversation conversation = new Conversation(this, peer, own);
            exchanges.put(conversation.id, conversation);
            conversation.repeat(own);
            return conversation;
        } finally {
            lock.unlock();
        }
    }

    /// Asks a peer for the queue pair of a datagram service.
    public Inquiry inquire(InetAddress peer, IntFunction<ServiceRequest> request) {
        lock.lock();
        try {
            ServiceRequest own = request.apply(newId());
            Inquiry inquiry = new Inquiry(this, own.id(), peer);
            exchanges.put(inquiry.id, inquiry);
            inquiry.repeat(own);
            return inquiry;
        } finally {
            lock.unlock();
        }
    }

    /// Listens for connections.
    ///
    /// @param port 0 for any free one
    /// @param backlog how many requests may wait
    /// @return null if the port is taken
    public @Nullable ListeningPort<Conversation> listen(int port, int backlog) {
        return listen(connectionPorts, port, backlog);
    }

    /// Listens for questions about datagram services.
    ///
    /// @param port 0 for any free one
    /// @param backlog how many questions may wait
    /// @return null if the port is taken
    public @Nullable ListeningPort<ServiceInquiry> listenForDatagrams(int port, int backlog) {
        return listen(datagramPorts, port, backlog);
    }

    private <R> @Nullable ListeningPort<R> listen(PortTable<R> ports, int wanted, int backlog) {
        lock.lock();
        try {
            int number = ports.choose(wanted);
            if (number == 0) {
                return null;
            }
            ListeningPort<R> port = new ListeningPort<>(this, ports, number, backlog);
            ports.add(port);
            return port;
        } finally {
            lock.unlock();
        }
    }

    /// Takes a port to connect from.
    ///
    /// @param wanted 0 for any free one
    /// @return 0 if it is taken
    public int takePort(int wanted) {
        lock.lock();
        try {
            int number = connectionPorts.choose(wanted);
            if (number != 0) {
                connectionPorts.call(number);
            }
            return number;
        } finally {
            lock.unlock();
        }
    }

    /// Gives a port back.
    public void returnPort(int number) {
        lock.lock();
        try {
            connectionPorts.hangUp(number);
        } finally {
            lock.unlock();
        }
    }

    /// Retransmits unanswered messages; an engine.
    ///
    /// @return nanoseconds until the next call is due
    public long onTime() {
        if (!anyScheduled) {
            return Long.MAX_VALUE;
        }
        lock.lock();
        try {
            long now = now();
            long soonest = Long.MAX_VALUE;
            for (Exchange exchange : List.copyOf(scheduled)) {
                soonest = Math.min(soonest, exchange.onTime(now));
            }
            return soonest;
        } finally {
            lock.unlock();
        }
    }

    // ---- Exchanges; under the lock ----

    private int newId() {
        int id;
        do {
            id = RANDOM.nextInt();
        } while (id == 0 || exchanges.containsKey(id));
        return id;
    }

    long newTransaction() {
        return RANDOM.nextLong();
    }

    void send(InetAddress to, long transaction, ConnectionMessage message) {
        new ManagementDatagram(transaction, message).encode(buffer);
        output.send(to, buffer);
    }

    long now() {
        return clock.getAsLong();
    }

    void schedule(Exchange exchange) {
        scheduled.add(exchange);
        anyScheduled = true;
        wakeup.run();
    }

    void unschedule(Exchange exchange) {
        scheduled.remove(exchange);
        anyScheduled = !scheduled.isEmpty();
    }

    /// Removes an exchange that is over. Late messages for it are treated as unknown.
    void forget(Exchange exchange) {
        exchanges.remove(exchange.id, exchange);
        if (exchange instanceof Conversation conversation && conversation.isPeers()) {
            requested.remove(
                    new Origin(conversation.peer, conversation.request().id()), conversation);
        }
    }

    /// Removes an inquiry; false if it was already answered.
    boolean forget(ServiceInquiry inquiry) {
        return asked.remove(new Origin(inquiry.peer(), inquiry.request().id()), inquiry);
    }

    /// Keeps the answer for a peer that asks again because the answer was lost. The program is not asked twice.
    void remember(Conversation conversation, Rejection answer) {
        if (refused.size() >= MOST_REFUSALS) {
            refused.remove(refused.keySet().iterator().next());
        }
        refused.put(new Origin(conversation.peer, conversation.request().id()), answer);
    }

    // ---- Incoming messages ----

    /// A management datagram has arrived from any host.
    ///
    /// @param datagram with [ManagementDatagram#BYTES] bytes at its beginning
    /// @return false if it was not understood or expected
    public boolean arrived(InetAddress from, ByteBuffer datagram) {
        ManagementDatagram decoded = ManagementDatagram.decode(datagram);
        if (decoded == null) {
            return false;
        }
        lock.lock();
        try {
            return arrived(from, decoded.transaction(), decoded.message());
        } finally {
            lock.unlock();
        }
    }

    private boolean arrived(InetAddress from, long transaction, ConnectionMessage message) {
        return switch (message) {
            case ConnectRequest request -> requested(from, transaction, request);
            case ServiceRequest request -> asked(from, transaction, request);
            case DisconnectRequest request -> disconnected(from, transaction, request);
            case ConnectReply reply -> replied(from, transaction, reply);
            case Rejection rejection -> rejected(from, rejection);
            case Receipt receipt -> tell(from, receipt.peerId(), found -> found.received(receipt));
            case ReadyToUse ready -> tell(from, ready.peerId(), found -> found.received(ready));
            case DisconnectReply reply -> tell(from, reply.peerId(), found -> found.received(reply));
            case ServiceReply reply -> answered(from, reply);
        };
    }

    private boolean requested(InetAddress from, long transaction, ConnectRequest request) {
        Origin origin = new Origin(from, request.id());
        Conversation known = requested.get(origin);
        Rejection earlier = refused.get(origin);
        ListeningPort<Conversation> port = PortSpace.CONNECTIONS.contains(request.service())
                ? connectionPorts.find(PortSpace.port(request.service()))
                : null;
        int fault = port == null ? Rejection.NOBODY_LISTENS : fault(from, request);
        if (known != null) {
            known.requestedAgain();
        } else if (earlier != null) {
            send(from, transaction, earlier);
        } else if (port == null || fault != 0) {
            send(from, transaction, new Rejection(0, request.id(), MessageKind.REQUEST, fault));
        } else if (port.hasRoom(from)) {
            Conversation conversation = new Conversation(this, newId(), from, transaction, request);
            exchanges.put(conversation.id, conversation);
            requested.put(origin, conversation);
            port.add(conversation, from);
        } else {
            send(from, transaction, Conversation.busy(request));
        }
        return true;
    }

    /// The reason to reject a request, or 0.
    private int fault(InetAddress from, ConnectRequest request) {
        if (!request.reliable()) {
            return Rejection.TRANSPORT;
        }
        if (request.queuePair() <= 1) {
            return Rejection.NO_QUEUE_PAIR;
        }
        boolean sameAddresses = request.addresses() != null
                && request.source().equals(Gid.of(from))
                && request.destination().equals(gid);
        if (!sameAddresses) {
            return Rejection.WRONG_GID;
        }
        return request.mtu() < 1 || request.mtu() > mtu.code() ? Rejection.WRONG_MTU : 0;
    }

    private boolean asked(InetAddress from, long transaction, ServiceRequest request) {
        Origin origin = new Origin(from, request.id());
        if (asked.containsKey(origin)) {
            return true;
        }
        ListeningPort<ServiceInquiry> port = PortSpace.DATAGRAMS.contains(request.service())
                ? datagramPorts.find(PortSpace.port(request.service()))
                : null;
        if (port == null || request.addresses() == null) {
            int status = ServiceReply.NOBODY_LISTENS;
            send(from, transaction, new ServiceReply(request.id(), status, 0, request.service(), 0, new byte[0]));
        } else if (port.hasRoom(from)) {
            ServiceInquiry inquiry = new ServiceInquiry(this, from, transaction, request);
            asked.put(origin, inquiry);
            port.add(inquiry, from);
        } else {
            return false;
        }
        return true;
    }

    private boolean replied(InetAddress from, long transaction, ConnectReply reply) {
        boolean known = tell(from, reply.peerId(), found -> found.received(reply));
        if (!known) {
            send(from, transaction, new Rejection(0, reply.id(), MessageKind.REPLY, Rejection.UNKNOWN_ID));
        }
        return known;
    }

    private boolean rejected(InetAddress from, Rejection rejection) {
        // A peer that gives up its own request may not know the number of this side.
        Conversation given = rejection.peerId() == 0 ? requested.get(new Origin(from, rejection.id())) : null;
        if (given == null) {
            return tell(from, rejection.peerId(), found -> found.received(rejection));
        }
        given.received(rejection);
        ListeningPort<Conversation> port =
                connectionPorts.find(PortSpace.port(given.request().service()));
        if (port != null) {
            port.remove(given);
        }
        return true;
    }

    private boolean disconnected(InetAddress from, long transaction, DisconnectRequest request) {
        boolean known = tell(from, request.peerId(), found -> found.received(request));
        if (!known) {
            // The answer was lost, and the peer waits for it.
            send(from, transaction, new DisconnectReply(request.peerId(), request.id()));
        }
        return known;
    }

    private boolean answered(InetAddress from, ServiceReply reply) {
        if (exchanges.get(reply.id()) instanceof Inquiry found && found.peer.equals(from)) {
            found.received(reply);
            return true;
        }
        return false;
    }

    /// Passes a message to the conversation with this number, if it comes from its peer.
    private boolean tell(InetAddress from, int id, Consumer<Conversation> message) {
        if (exchanges.get(id) instanceof Conversation found && found.peer.equals(from)) {
            message.accept(found);
            return true;
        }
        return false;
    }

    @Override
    public String toString() {
        return "connection manager at " + gid;
    }
}
