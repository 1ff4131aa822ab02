package io.rdmacomm.comm.endpoint;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The life cycle of an endpoint: one table of states and events, and what each transition starts. Thread-safe.
///
/// An event without a row for a state changes nothing and starts nothing.
///
/// @param <F> the kind of failures
public final class EndPointLife<F> {
    /// The states.
    public enum State {
        /// The handshake with the peer is in progress.
        CONNECTING,
        /// The handshake is in progress, and the peer is done already.
        CONNECTING_PEER_DONE,
        /// Both sides can send.
        READY,
        /// The peer was done first; this side has not sent DONE.
        PEER_DONE,
        /// The peer was done first, and this side has sent DONE. Must still be closed.
        PEER_DONE_ANSWERED,
        /// This side was closed first, and has not sent DONE.
        CLOSING,
        /// This side was closed first, has sent DONE, and waits for the peer's answer.
        CLOSING_DONE_SENT,
        /// This side is being closed and the peer is done; this side has not sent DONE.
        CLOSING_PEER_DONE,
        /// This side is being closed, and both sides are done.
        CLOSING_BOTH_DONE,
        /// It has failed. Must still be closed.
        FAILED,
        /// It has failed, and a part of the work after the failure could not run. Must still be closed.
        FAILED_INCOMPLETE,
        /// It has failed and is being closed.
        FAILED_CLOSING,
        /// It has failed and is being closed, and a part of the work after the failure could not run.
        FAILED_CLOSING_INCOMPLETE,
        /// It has failed and was closed; everything is freed.
        FAILED_FREED,
        /// Its setup has failed; it was never visible to the program.
        ABANDONED,
        /// Closed in order; everything is freed.
        CLOSED
    }

    /// The events.
    public enum Event {
        /// All channels are connected, and both sides are ready.
        SET_UP,
        /// The setup has failed for another reason.
        ABANDON,
        /// The peer has sent DONE.
        PEER_DONE,
        /// This side is about to send DONE.
        SEND_DONE,
        /// An interrupt ended the sending of DONE; it may not have arrived.
        SEND_INTERRUPTED,
        /// A queue pair failed, the peer died or violated the protocol, or one of the two sides aborts.
        FAILURE,
        /// A part of the work after the failure ran out of memory.
        INCOMPLETE,
        /// The program closes this side.
        CLOSE,
        /// Everything is freed.
        FREED
    }

    /// The work that a transition starts.
    public enum Action {
        /// Nothing.
        NONE,
        /// Stop the channels: the endpoint failed before they were opened.
        STOP,
        /// Wait for operations in flight, answer with DONE, and notify the owner of the end.
        ANSWER,
        /// Send DONE to the peer.
        SEND_DONE,
        /// Stop the channels, flush operations in flight, and notify the owner of the end.
        END,
        /// The same once more, because a part of it could not run.
        END_AGAIN,
        /// Wait for operations in flight, send DONE, wait for the peer's answer, then free everything.
        CLOSE_FIRST,
        /// The same after the peer was done: no more messages come from it.
        CLOSE_AFTER_PEER,
        /// Free everything.
        FREE,
        /// Notify the owner of the end, unless it was notified before.
        NOTIFY_OWNER
    }

    /// One transition.
    ///
    /// @param next the state after it
    /// @param starts what it starts
    public record Transition(State next, Action starts) {}

    private static final Map<State, Map<Event, Transition>> TABLE = new EnumMap<>(State.class);

    static {
        row(State.CONNECTING, Event.SET_UP, State.READY, Action.NONE);
        row(State.CONNECTING, Event.ABANDON, State.ABANDONED, Action.FREE);
        row(State.CONNECTING, Event.PEER_DONE, State.CONNECTING_PEER_DONE, Action.NONE);
        row(State.CONNECTING, Event.FAILURE, State.FAILED, Action.END);
        row(State.CONNECTING, Event.CLOSE, State.ABANDONED, Action.FREE);

        row(State.CONNECTING_PEER_DONE, Event.SET_UP, State.PEER_DONE, Action.ANSWER);
        row(State.CONNECTING_PEER_DONE, Event.ABANDON, State.ABANDONED, Action.FREE);
        row(State.CONNECTING_PEER_DONE, Event.CLOSE, State.ABANDONED, Action.FREE);

        row(State.READY, Event.ABANDON, State.ABANDONED, Action.FREE);
        row(State.READY, Event.PEER_DONE, State.PEER_DONE, Action.ANSWER);
        row(State.READY, Event.FAILURE, State.FAILED, Action.END);
        row(State.READY, Event.CLOSE, State.CLOSING, Action.CLOSE_FIRST);

        // Once the peer is done, failures no longer count.
        row(State.PEER_DONE, Event.ABANDON, State.ABANDONED, Action.FREE);
        row(State.PEER_DONE, Event.SEND_DONE, State.PEER_DONE_ANSWERED, Action.SEND_DONE);
        row(State.PEER_DONE, Event.CLOSE, State.CLOSING_PEER_DONE, Action.CLOSE_AFTER_PEER);

        row(State.PEER_DONE_ANSWERED, Event.ABANDON, State.ABANDONED, Action.FREE);
        row(State.PEER_DONE_ANSWERED, Event.SEND_INTERRUPTED, State.PEER_DONE, Action.NONE);
        row(State.PEER_DONE_ANSWERED, Event.CLOSE, State.CLOSING_BOTH_DONE, Action.CLOSE_AFTER_PEER);

        row(State.CLOSING, Event.PEER_DONE, State.CLOSING_PEER_DONE, Action.NONE);
        row(State.CLOSING, Event.SEND_DONE, State.CLOSING_DONE_SENT, Action.SEND_DONE);
        row(State.CLOSING, Event.FAILURE, State.FAILED_CLOSING, Action.END);
        row(State.CLOSING, Event.FREED, State.CLOSED, Action.NOTIFY_OWNER);

        row(State.CLOSING_DONE_SENT, Event.PEER_DONE, State.CLOSING_BOTH_DONE, Action.NONE);
        row(State.CLOSING_DONE_SENT, Event.SEND_INTERRUPTED, State.CLOSING, Action.NONE);
        row(State.CLOSING_DONE_SENT, Event.FAILURE, State.FAILED_CLOSING, Action.END);
        row(State.CLOSING_DONE_SENT, Event.FREED, State.CLOSED, Action.NOTIFY_OWNER);

        row(State.CLOSING_PEER_DONE, Event.SEND_DONE, State.CLOSING_BOTH_DONE, Action.SEND_DONE);
        row(State.CLOSING_PEER_DONE, Event.FREED, State.CLOSED, Action.NOTIFY_OWNER);

        row(State.CLOSING_BOTH_DONE, Event.SEND_INTERRUPTED, State.CLOSING_PEER_DONE, Action.NONE);
        row(State.CLOSING_BOTH_DONE, Event.FREED, State.CLOSED, Action.NOTIFY_OWNER);

        row(State.FAILED, Event.SET_UP, State.FAILED, Action.STOP);
        row(State.FAILED, Event.ABANDON, State.FAILED_CLOSING, Action.FREE);
        row(State.FAILED, Event.INCOMPLETE, State.FAILED_INCOMPLETE, Action.NONE);
        row(State.FAILED, Event.CLOSE, State.FAILED_CLOSING, Action.FREE);

        row(State.FAILED_INCOMPLETE, Event.SET_UP, State.FAILED_INCOMPLETE, Action.STOP);
        row(State.FAILED_INCOMPLETE, Event.ABANDON, State.FAILED_CLOSING_INCOMPLETE, Action.FREE);
        row(State.FAILED_INCOMPLETE, Event.FAILURE, State.FAILED, Action.END_AGAIN);
        row(State.FAILED_INCOMPLETE, Event.CLOSE, State.FAILED_CLOSING_INCOMPLETE, Action.FREE);

        row(State.FAILED_CLOSING, Event.INCOMPLETE, State.FAILED_CLOSING_INCOMPLETE, Action.NONE);
        row(State.FAILED_CLOSING, Event.FREED, State.FAILED_FREED, Action.NOTIFY_OWNER);

        row(State.FAILED_CLOSING_INCOMPLETE, Event.FAILURE, State.FAILED_CLOSING, Action.END_AGAIN);
        row(State.FAILED_CLOSING_INCOMPLETE, Event.FREED, State.FAILED_FREED, Action.NOTIFY_OWNER);
    }

    /// The states in which messages of the peer still count.
    private static final Set<State> PEER_ACTIVE =
            EnumSet.of(State.CONNECTING, State.READY, State.CLOSING, State.CLOSING_DONE_SENT);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private State state = State.CONNECTING;
    private @Nullable F failure;
    private boolean closedHere;

    private static void row(State from, Event event, State next, Action starts) {
        TABLE.computeIfAbsent(from, _ -> new EnumMap<>(Event.class)).put(event, new Transition(next, starts));
    }

    /// The next state and the work that an event starts in a state.
    public static Transition transition(State from, Event event) {
        Transition found = TABLE.getOrDefault(from, Map.of()).get(event);
        return found == null ? new Transition(from, Action.NONE) : found;
    }

    /// An event other than FAILURE has happened. Never blocks for long.
    ///
    /// @return what the caller has to do
    public Action on(Event event) {
        lock.lock();
        try {
            Transition transition = transition(state, event);
            state = transition.next();
            closedHere |= transition.starts() == Action.CLOSE_FIRST;
            changed.signalAll();
            return transition.starts();
        } finally {
            lock.unlock();
        }
    }

    /// The event FAILURE has happened. The first reason is kept.
    ///
    /// @return what the caller has to do
    public Action fail(F why) {
        lock.lock();
        try {
            Action starts = on(Event.FAILURE);
            if (starts == Action.END) {
                failure = why;
            }
            return starts;
        } finally {
            lock.unlock();
        }
    }

    /// The state.
    public State state() {
        return read(() -> state);
    }

    /// Why it failed; null if it has not.
    public @Nullable F failure() {
        lock.lock();
        try {
            return failure;
        } finally {
            lock.unlock();
        }
    }

    /// Whether this side was closed before it ended otherwise.
    public boolean isClosedHere() {
        return read(() -> closedHere);
    }

    /// Whether messages of the peer no longer count: it is done, or this side has failed or is closed.
    public boolean isPeerFinished() {
        return read(() -> !PEER_ACTIVE.contains(state));
    }

    /// Reads a value that is guarded by the lock of the state.
    public <T> T read(Supplier<T> what) {
        lock.lock();
        try {
            return what.get();
        } finally {
            lock.unlock();
        }
    }

    /// Changes a value that [#await] conditions depend on.
    public void change(Runnable what) {
        lock.lock();
        try {
            what.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until a condition holds that depends on the state, or on a value that [#change] changes.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @return whether it holds
    public boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
        lock.lock();
        try {
            while (!condition.getAsBoolean()) {
                long left = deadline - System.nanoTime();
                if (left <= 0 || (!changed.await(left, TimeUnit.NANOSECONDS) && !condition.getAsBoolean())) {
                    return condition.getAsBoolean();
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
