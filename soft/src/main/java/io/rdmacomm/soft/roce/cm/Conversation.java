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
    /// The progress of a conversation.
    public enum State {
        /// This side has sent a request.
        REQUESTING,
        /// The peer has accepted, and this side brings its queue pair up.
        ACCEPTED,
        /// The peer has sent a request.
        REQUESTED,
        /// This side has accepted, and the peer brings its queue pair up.
        ACCEPTING,
        /// Both sides are ready.
        CONNECTED,
        /// This side has ended the connection, and the peer has not confirmed that.
        DISCONNECTING,
        /// The peer has rejected the request.
        REFUSED,
        /// The peer does not answer.
        UNANSWERED,
        /// It is over.
        ENDED
    }

    /// The time for the program to answer, as in Linux (`CMA_CM_MRA_SETTING`): 69 s.
    private static final int PROGRAM_TIMEOUT = 24;
    /// When a peer should ask again if there was no room for its request: 1.1 s.
    private static final int BUSY_TIMEOUT = 18;
    private static final long TIMEOUT_UNIT_NANOS = 4_096;
    private static final byte[] NO_DATA = {};

    private final @Nullable ConnectRequest request;
    private State state;
    private int peerId;
    private int queuePair;
    private int peerQueuePair;
    /// Of this side's adapter, once this side has told it.
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

    /// This side's number for the conversation.
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

    /// Why the peer has rejected the request, in [State#REFUSED].
    public @Nullable Rejection refusal() {
        manager.lock.lock();
        try {
            return refusal;
        } finally {
            manager.lock.unlock();
        }
    }

    /// Waits until the conversation leaves a state.
    ///
    /// @return the new state, or `from` after the timeout
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

    /// Accepts the peer's request; this side's queue pair is ready. Does nothing if the peer has given up
    /// meanwhile.
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

    /// This side's queue pair is ready, too, after [State#ACCEPTED].
    ///
    /// @param ended called when the peer ends the connection, on the receiving thread; must return soon
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

    /// Rejects the peer's request, or gives up this side's. If the peer has completed the connection meanwhile,
    /// ends it.
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
                    // The peer already knows, or is about to.
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

    /// Wakes threads that wait for the peer, and tells the peer at once: a waiting thread may find everything
    /// closed.
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

    /// Ends the connection; does nothing if it is over.
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

    // ---- The peer; under the lock ----

    /// The peer has retransmitted its request.
    void requestedAgain() {
        switch (state) {
            case REQUESTED -> send(new Receipt(id, peerId, MessageKind.REQUEST, PROGRAM_TIMEOUT));
            case ACCEPTING -> repeatNow();
            case REQUESTING, ACCEPTED, CONNECTED, DISCONNECTING, REFUSED, UNANSWERED, ENDED -> {
                // The answer is in flight, or the peer no longer waits for one.
            }
        }
    }

    /// Asks a peer to try again in a moment, as there is no room for its request. Keeps nothing about it.
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
                // A peer that did not get the confirmation gives up. No other host knows both numbers.
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
