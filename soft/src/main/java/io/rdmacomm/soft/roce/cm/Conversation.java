package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.soft.roce.mad.ConnectReply;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.DisconnectReply;
import io.rdmacomm.soft.roce.mad.DisconnectRequest;
import io.rdmacomm.soft.roce.mad.MessageKind;
import io.rdmacomm.soft.roce.mad.ReadyToUse;
import io.rdmacomm.soft.roce.mad.Receipt;
import io.rdmacomm.soft.roce.mad.Rejection;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// One connection, from its request to its end (IBTA 12.9). Thread-safe.
public final class Conversation extends Exchange {
    /// How far it is.
    public enum State {
        /// This side has asked.
        REQUESTING,
        /// The peer has accepted, and this side brings its queue pair up.
        ACCEPTED,
        /// The peer has asked.
        REQUESTED,
        /// This side has accepted, and the peer brings its queue pair up.
        ACCEPTING,
        /// Both are ready.
        CONNECTED,
        /// This side has ended it, and the peer has not confirmed that.
        DISCONNECTING,
        /// The peer has refused it.
        REFUSED,
        /// The peer does not answer.
        UNANSWERED,
        /// It is over.
        ENDED
    }

    /// The program of Linux may take so long, too (`CMA_CM_MRA_SETTING`): 69 s.
    private static final int PROGRAM_TIMEOUT = 24;
    /// When a peer should ask again whose request has no room: 1.1 s.
    private static final int BUSY_TIMEOUT = 18;
    private static final long TIMEOUT_UNIT_NANOS = 4_096;
    private static final byte[] NO_DATA = {};

    private final @Nullable ConnectRequest request;
    private State state;
    private int peerId;
    private int queuePair;
    private int peerQueuePair;
    /// Of the own adapter, once this side has told it.
    private long guid;
    private @Nullable ConnectReply reply;
    private @Nullable Rejection refusal;
    private boolean givenUp;
    private Runnable onEnd = () -> {};

    /// A conversation that this side begins.
    Conversation(CommunicationManager manager, InetAddress peer, ConnectRequest own) {
        super(manager, own.id(), peer, manager.newTransaction());
        this.request = null;
        this.state = State.REQUESTING;
        this.queuePair = own.queuePair();
        this.guid = own.guid();
    }

    /// A conversation that the peer has begun.
    Conversation(CommunicationManager manager, int id, InetAddress peer, long transaction, ConnectRequest request) {
        super(manager, id, peer, transaction);
        this.request = request;
        this.state = State.REQUESTED;
        this.peerId = request.id();
        this.peerQueuePair = request.queuePair();
    }

    // ---- The program ----

    /// The number of this side.
    public int id() {
        return id;
    }

    /// The address of the peer.
    public InetAddress peer() {
        return peer;
    }

    /// Whether the peer has begun it.
    public boolean isPeers() {
        return request != null;
    }

    /// The request of the peer.
    public ConnectRequest request() {
        ConnectRequest known = request;
        if (known == null) {
            throw new IllegalStateException("this side has asked");
        }
        return known;
    }

    /// The reply of the peer, in [State#ACCEPTED].
    public @Nullable ConnectReply reply() {
        manager.lock.lock();
        try {
            return reply;
        } finally {
            manager.lock.unlock();
        }
    }

    /// Why the peer has refused, in [State#REFUSED].
    public @Nullable Rejection refusal() {
        manager.lock.lock();
        try {
            return refusal;
        } finally {
            manager.lock.unlock();
        }
    }

    /// Waits until it is no longer in a state.
    ///
    /// @return the state that it has then, or `from` after the timeout
    public State awaitChange(State from, long timeoutNanos) throws InterruptedException {
        manager.lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            while (state == from && left > 0 && !givenUp) {
                left = changed.awaitNanos(left);
            }
            return state;
        } finally {
            manager.lock.unlock();
        }
    }

    /// Accepts the peer's request; the own queue pair is ready. Does nothing if the peer has given up meanwhile.
    public void accept(ConnectReply own) {
        manager.lock.lock();
        try {
            if (state == State.REQUESTED) {
                queuePair = own.queuePair();
                guid = own.guid();
                enter(State.ACCEPTING);
                repeatSparingly(own);
            }
        } finally {
            manager.lock.unlock();
        }
    }

    /// The own queue pair is ready, too, after [State#ACCEPTED].
    ///
    /// @param ended called when the peer ends it, on the thread that receives; returns soon
    /// @return false if it is over already
    public boolean confirm(Runnable ended) {
        manager.lock.lock();
        try {
            if (state == State.ACCEPTED) {
                enter(State.CONNECTED);
                send(new ReadyToUse(id, peerId));
            }
            if (state == State.CONNECTED) {
                onEnd = ended;
                return true;
            }
            return false;
        } finally {
            manager.lock.unlock();
        }
    }

    /// Refuses the peer's request, or gives up this side's. If the peer has completed the connection meanwhile, ends
    /// that.
    public void refuse(int reason, byte[] privateData) {
        manager.lock.lock();
        try {
            switch (state) {
                case REQUESTING, REQUESTED, ACCEPTED, ACCEPTING -> {
                    reject(reason, privateData);
                    end();
                }
                case CONNECTED -> disconnect();
                case DISCONNECTING, REFUSED, UNANSWERED, ENDED -> {
                    // The peer knows, or is about to.
                }
            }
        } finally {
            manager.lock.unlock();
        }
    }

    /// Tells the peer that there will be no connection.
    private void reject(int reason, byte[] privateData) {
        MessageKind refused = switch (state) {
            case ACCEPTED -> MessageKind.REPLY;
            case ACCEPTING -> MessageKind.OTHER;
            default -> MessageKind.REQUEST;
        };
        int own = state == State.REQUESTED ? 0 : id;
        if (state != State.ACCEPTING || !isExhausted()) {
            send(new Rejection(own, peerId, refused, reason, reason == Rejection.TIMEOUT ? guid : 0, privateData));
        }
        if (isPeers()) {
            manager.remember(this, new Rejection(0, peerId, MessageKind.REQUEST, reason, 0, privateData));
        }
    }

    /// Wakes who waits for the peer, and tells the peer at once: the thread that waits may find everything closed.
    public void giveUp(int reason) {
        manager.lock.lock();
        try {
            givenUp = true;
            if (state == State.REQUESTING || state == State.ACCEPTING) {
                refuse(reason, NO_DATA);
            }
        } finally {
            manager.lock.unlock();
        }
    }

    /// Ends it; does nothing if it is over.
    public void disconnect() {
        manager.lock.lock();
        try {
            if (state == State.CONNECTED) {
                enter(State.DISCONNECTING);
                repeat(new DisconnectRequest(id, peerId, peerQueuePair));
            } else if (state != State.DISCONNECTING) {
                end();
            }
        } finally {
            manager.lock.unlock();
        }
    }

    // ---- The peer; with the lock ----

    /// The peer has repeated its request.
    void requestedAgain() {
        switch (state) {
            case REQUESTED -> send(new Receipt(id, peerId, MessageKind.REQUEST, PROGRAM_TIMEOUT));
            case ACCEPTING -> repeatNow();
            case REQUESTING, ACCEPTED, CONNECTED, DISCONNECTING, REFUSED, UNANSWERED, ENDED -> {
                // The answer is on its way, or nobody waits for one.
            }
        }
    }

    /// Has a peer ask again in a moment, and forgets it until then: there is no room for its request.
    static Receipt busy(ConnectRequest request) {
        return new Receipt(0, request.id(), MessageKind.REQUEST, BUSY_TIMEOUT);
    }

    void received(Receipt receipt) {
        boolean asked = state == State.REQUESTING && receipt.received() == MessageKind.REQUEST;
        boolean replied = state == State.ACCEPTING && receipt.received() == MessageKind.REPLY;
        if (asked || replied) {
            bePatient(TIMEOUT_UNIT_NANOS << receipt.timeout());
        }
    }

    void received(ConnectReply message) {
        if (state == State.REQUESTING) {
            stopRepeating();
            peerId = message.id();
            peerQueuePair = message.queuePair();
            reply = message;
            enter(State.ACCEPTED);
        } else if (state == State.CONNECTED && request == null && message.id() == peerId) {
            // The confirmation was lost.
            send(new ReadyToUse(id, peerId));
        }
    }

    void received(ReadyToUse message) {
        if (state == State.ACCEPTING && message.id() == peerId) {
            stopRepeating();
            enter(State.CONNECTED);
        }
    }

    void received(Rejection message) {
        switch (state) {
            case REQUESTING, ACCEPTING, REQUESTED -> {
                refusal = message;
                leave(State.REFUSED);
            }
            case ACCEPTED, CONNECTED, DISCONNECTING -> {
                // A peer that has not got the confirmation gives up. Nobody else knows both numbers.
                if (message.id() == peerId && message.peerId() == id) {
                    endedByPeer();
                }
            }
            case REFUSED, UNANSWERED, ENDED -> {
                // It is over.
            }
        }
    }

    private void endedByPeer() {
        end();
        onEnd.run();
    }

    void received(DisconnectRequest message) {
        if (message.id() != peerId || message.queuePair() != queuePair) {
            return;
        }
        switch (state) {
            case ACCEPTED, ACCEPTING, CONNECTED, DISCONNECTING -> {
                send(new DisconnectReply(id, peerId));
                endedByPeer();
            }
            case REQUESTING, REQUESTED, REFUSED, UNANSWERED, ENDED -> {
                // There is no connection.
            }
        }
    }

    void received(DisconnectReply message) {
        if (state == State.DISCONNECTING && message.id() == peerId) {
            end();
        }
    }

    @Override
    void unanswered() {
        if (state == State.DISCONNECTING) {
            end();
        } else {
            reject(Rejection.TIMEOUT, NO_DATA);
            leave(State.UNANSWERED);
        }
    }

    private void end() {
        leave(State.ENDED);
    }

    private void leave(State to) {
        stopRepeating();
        manager.forget(this);
        enter(to);
    }

    private void enter(State to) {
        state = to;
        changed.signalAll();
    }

    @Override
    public String toString() {
        return "conversation 0x" + Integer.toHexString(id) + " with " + peer.getHostAddress();
    }
}
