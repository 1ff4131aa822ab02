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
/// An event that has no row for a state changes nothing and starts nothing.
///
/// @param <F> the kind of failures
public final class EndPointLife<F> {
    /// The states.
    public enum State {
        /// The handshake with the peer is in progress.
        CONNECTING,
        /// The same, and the peer is done already.
        CONNECTING_PEER_DONE,
        /// Both sides can send.
        READY,
        /// The peer is done first; this side has not said that it is done.
        PEER_DONE,
        /// The peer was done first, and this side has said that it is done. Still to be closed.
        PEER_DONE_ANSWERED,
        /// This side was closed first, and has not said that it is done.
        CLOSING,
        /// This side was closed first, and has said that it is done. It waits for the peer's answer.
        CLOSING_DONE_SAID,
        /// This side is being closed and the peer is done; this side has not said that it is done.
        CLOSING_PEER_DONE,
        /// This side is being closed, and both sides are done.
        CLOSING_BOTH_DONE,
        /// It has failed. Still to be closed.
        FAILED,
        /// It has failed, and a part of what follows from that could not run. Still to be closed.
        FAILED_INCOMPLETE,
        /// It has failed and is being closed.
        FAILED_CLOSING,
        /// It has failed and is being closed, and a part of what follows from the failure could not run.
        FAILED_CLOSING_INCOMPLETE,
        /// It has failed and was closed; everything is freed.
        FAILED_FREED,
        /// Its setup has failed; nobody was told of it.
        ABANDONED,
        /// Closed in order; everything is freed.
        CLOSED
    }

    /// The events.
    public enum Event {
        /// All channels are connected, and both sides are ready.
        SET_UP,
        /// The setup has failed otherwise.
        ABANDON,
        /// The peer says that it is done.
        PEER_DONE,
        /// This side is about to say that it is done.
        SAY_DONE,
        /// An interrupt has left open whether this side has said that it is done.
        SAYING_INTERRUPTED,
        /// A queue pair failed, the peer died or violated the protocol, or one of the two sides aborts.
        FAILURE,
        /// A part of what follows from the failure could not run, for lack of memory.
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
        /// Stop the channels: it failed before they were opened.
        STOP,
        /// End what is in flight, answer that this side is done too, and tell the owner of the end.
        ANSWER,
        /// Tell the peer that this side is done.
        SAY_DONE,
        /// Stop the channels, flush what is in flight, and tell the owner of the end.
        END,
        /// The same once more, as a part of it could not run.
        END_AGAIN,
        /// Wait for what is in flight, say that this side is done, wait for the peer's answer, then free everything.
        CLOSE_FIRST,
        /// The same after the peer was done, from which no message comes any more.
        CLOSE_AFTER_PEER,
        /// Free everything.
        FREE,
        /// Tell the owner of the end, unless it was told before.
        TELL_END
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

        // When the peer is done, nothing counts as a failure any more.
        row(State.PEER_DONE, Event.ABANDON, State.ABANDONED, Action.FREE);
        row(State.PEER_DONE, Event.SAY_DONE, State.PEER_DONE_ANSWERED, Action.SAY_DONE);
        row(State.PEER_DONE, Event.CLOSE, State.CLOSING_PEER_DONE, Action.CLOSE_AFTER_PEER);

        row(State.PEER_DONE_ANSWERED, Event.ABANDON, State.ABANDONED, Action.FREE);
        row(State.PEER_DONE_ANSWERED, Event.SAYING_INTERRUPTED, State.PEER_DONE, Action.NONE);
        row(State.PEER_DONE_ANSWERED, Event.CLOSE, State.CLOSING_BOTH_DONE, Action.CLOSE_AFTER_PEER);

        row(State.CLOSING, Event.PEER_DONE, State.CLOSING_PEER_DONE, Action.NONE);
        row(State.CLOSING, Event.SAY_DONE, State.CLOSING_DONE_SAID, Action.SAY_DONE);
        row(State.CLOSING, Event.FAILURE, State.FAILED_CLOSING, Action.END);
        row(State.CLOSING, Event.FREED, State.CLOSED, Action.TELL_END);

        row(State.CLOSING_DONE_SAID, Event.PEER_DONE, State.CLOSING_BOTH_DONE, Action.NONE);
        row(State.CLOSING_DONE_SAID, Event.SAYING_INTERRUPTED, State.CLOSING, Action.NONE);
        row(State.CLOSING_DONE_SAID, Event.FAILURE, State.FAILED_CLOSING, Action.END);
        row(State.CLOSING_DONE_SAID, Event.FREED, State.CLOSED, Action.TELL_END);

        row(State.CLOSING_PEER_DONE, Event.SAY_DONE, State.CLOSING_BOTH_DONE, Action.SAY_DONE);
        row(State.CLOSING_PEER_DONE, Event.FREED, State.CLOSED, Action.TELL_END);

        row(State.CLOSING_BOTH_DONE, Event.SAYING_INTERRUPTED, State.CLOSING_PEER_DONE, Action.NONE);
        row(State.CLOSING_BOTH_DONE, Event.FREED, State.CLOSED, Action.TELL_END);

        row(State.FAILED, Event.SET_UP, State.FAILED, Action.STOP);
        row(State.FAILED, Event.ABANDON, State.FAILED_CLOSING, Action.FREE);
        row(State.FAILED, Event.INCOMPLETE, State.FAILED_INCOMPLETE, Action.NONE);
        row(State.FAILED, Event.CLOSE, State.FAILED_CLOSING, Action.FREE);

        row(State.FAILED_INCOMPLETE, Event.SET_UP, State.FAILED_INCOMPLETE, Action.STOP);
        row(State.FAILED_INCOMPLETE, Event.ABANDON, State.FAILED_CLOSING_INCOMPLETE, Action.FREE);
        row(State.FAILED_INCOMPLETE, Event.FAILURE, State.FAILED, Action.END_AGAIN);
        row(State.FAILED_INCOMPLETE, Event.CLOSE, State.FAILED_CLOSING_INCOMPLETE, Action.FREE);

        row(State.FAILED_CLOSING, Event.INCOMPLETE, State.FAILED_CLOSING_INCOMPLETE, Action.NONE);
        row(State.FAILED_CLOSING, Event.FREED, State.FAILED_FREED, Action.TELL_END);

        row(State.FAILED_CLOSING_INCOMPLETE, Event.FAILURE, State.FAILED_CLOSING, Action.END_AGAIN);
        row(State.FAILED_CLOSING_INCOMPLETE, Event.FREED, State.FAILED_FREED, Action.TELL_END);
    }

    /// The states in which the peer may still say something that counts.
    private static final Set<State> PEER_MAY_SPEAK =
            EnumSet.of(State.CONNECTING, State.READY, State.CLOSING, State.CLOSING_DONE_SAID);

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

    /// Whether this side was closed before it had ended in another way.
    public boolean isClosedHere() {
        return read(() -> closedHere);
    }

    /// Whether nothing that counts can come from the peer any more: it is done, or this side has failed or is closed.
    public boolean isPeerSilent() {
        return read(() -> !PEER_MAY_SPEAK.contains(state));
    }

    /// Reads something that changes together with the state.
    public <T> T read(Supplier<T> what) {
        lock.lock();
        try {
            return what.get();
        } finally {
            lock.unlock();
        }
    }

    /// Changes something that threads wait for together with the state.
    public void change(Runnable what) {
        lock.lock();
        try {
            what.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until a condition holds that depends on the state, or on something that [#change] changes.
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
