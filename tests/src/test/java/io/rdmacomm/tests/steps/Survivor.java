package io.rdmacomm.tests.steps;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.LocalSharedReceives;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.WorkStatus;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The survivor's side of a pair: posts work, takes completions, and checks each of them. Everything that was posted
/// ends exactly once, in order, successfully or with an error that says that the peer is gone.
final class Survivor {
    private static final long TIMEOUT_MILLIS = Math.min(30_000, EndQueue.TIMEOUT_MILLIS);
    private static final long MOMENT_MILLIS = 5;
    private static final long QUIET_MILLIS = 100;
    private static final int WINDOW = 2;
    private static final long FIRST_RECEIVE = 100;
    private static final long FIRST_SEND = 200;
    private static final Set<WorkStatus> ENDS = Set.of(WorkStatus.SUCCESS, WorkStatus.FLUSHED);
    private static final Set<WorkStatus> SEND_ENDS =
            Set.of(WorkStatus.SUCCESS, WorkStatus.FLUSHED, WorkStatus.RETRY_EXCEEDED);

    private final StepPair pair;
    private final PeerAction action;
    private final boolean events;
    private final LocalQueue queue;
    private final Map<Long, @Nullable Work> inFlight = new HashMap<>();
    private final Set<Long> ended = new HashSet<>();
    private final Deque<Work> traffic;
    private long nextSend = FIRST_SEND;
    private long lastReceive;
    private long lastSend;
    private boolean receiveFailed;
    private boolean sendFailed;
    private boolean mayBeLate;

    /// Posts receives and the first requests.
    ///
    /// @param events whether it sleeps until events come, instead of polling
    Survivor(StepPair pair, PeerAction action, boolean events) {
        this.pair = pair;
        this.action = action;
        this.events = events;
        this.queue = pair.here();
        this.traffic = new ArrayDeque<>(action.traffic(pair));
        LocalSharedReceives shared = pair.shared();
        for (int i = 0; i < StepPair.RECEIVES; i++) {
            long id = FIRST_RECEIVE + i;
            int accepted = shared == null ? queue.receive(id, pair.slot(i)) : shared.receive(id, pair.slot(i));
            check(accepted == 1, "receive " + i + " was not accepted");
            inFlight.put(id, null);
        }
    }

    private static void check(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    /// Goes on until `over`, although there may be nothing to do.
    void workUntil(BooleanSupplier over) {
        Deadline deadline = Deadline.in(TIMEOUT_MILLIS);
        while (!over.getAsBoolean()) {
            check(deadline.waiting(), "the peer has neither finished nor stopped");
            if (events) {
                queue.arm();
            }
            work();
            if (events) {
                queue.awaitEvent(MOMENT_MILLIS);
            }
        }
    }

    /// Goes on until everything has ended, except `left` requests.
    void workUntilEnded(int left) {
        Deadline deadline = Deadline.in(TIMEOUT_MILLIS);
        while (true) {
            if (events) {
                queue.arm();
            }
            work();
            if (inFlight.size() <= left) {
                return;
            }
            if (events) {
                if (!queue.awaitEvent(TIMEOUT_MILLIS)) {
                    throw new AssertionError("no event has come, but these completions: " + queue.poll() + unended());
                }
            } else {
                if (!deadline.waiting()) {
                    throw new AssertionError("not everything has ended" + unended());
                }
            }
        }
    }

    private String unended() {
        return "; in flight: " + inFlight.keySet() + ", state " + queue.state();
    }

    private void work() {
        queue.poll().forEach(this::take);
        while (!traffic.isEmpty() && inFlight.size() < StepPair.RECEIVES + WINDOW) {
            Work next = traffic.remove().numbered(nextSend++);
            check(queue.post(next) == 1, "request " + next + " was not accepted");
            inFlight.put(next.id(), next);
        }
        action.meanwhile(pair);
    }

    private void take(Outcome outcome) {
        long id = outcome.id();
        check(ended.add(id), "a second end of " + id + ": " + outcome);
        check(inFlight.containsKey(id), "a phantom: " + outcome);
        check(outcome.queuePair() == queue.number(), "a completion of another queue pair: " + outcome);
        Work work = inFlight.remove(id);
        boolean good = outcome.status() == WorkStatus.SUCCESS;
        if (work == null) {
            check(ENDS.contains(outcome.status()), "a receive ended with " + outcome);
            if (id > lastReceive) {
                check(!good || !receiveFailed, "a success after a failure: " + outcome);
                lastReceive = id;
            } else {
                check(mayBeLate, "receives have ended in another order: " + id + " after " + lastReceive);
                mayBeLate = false;
            }
            receiveFailed |= !good;
            if (good) {
                received((int) (id - FIRST_RECEIVE), outcome);
            }
        } else {
            check(SEND_ENDS.contains(outcome.status()), work + " ended with " + outcome);
            check(id > lastSend, "requests have ended in another order: " + id + " after " + lastSend);
            check(!good || !sendFailed, "a success after a failure: " + outcome);
            sendFailed |= !good;
            lastSend = id;
            if (outcome.opcode() == CompletionOpcode.READ) {
                pair.checkRead();
            }
        }
    }

    private void received(int receive, Outcome outcome) {
        check(outcome.bytes() == pair.bytes(), "the wrong length: " + outcome);
        if (outcome.opcode() == CompletionOpcode.RECEIVE) {
            pair.checkReceived(receive);
        } else {
            check(outcome.immediate() != null && outcome.immediate() == 7 + receive, "the wrong number: " + outcome);
            pair.checkWritten();
        }
    }

    /// The peer is stopped: posts nothing more. The receive that the peer had taken ends after the others (decision
    /// 38).
    void peerStopped() {
        traffic.clear();
        mayBeLate = true;
    }

    /// Checks that nothing else ends, also when the death of the peer has been noticed.
    void checkQuiet() {
        List<Outcome> more = queue.collect(1, QUIET_MILLIS);
        check(more.isEmpty(), "completions of nobody: " + more);
    }

    /// The number of receives that have not ended.
    int receivesLeft() {
        return (int) inFlight.keySet().stream().filter(id -> id < FIRST_SEND).count();
    }

    /// A receive was used up by somebody else.
    void usedUp(Outcome outcome) {
        check(ended.add(outcome.id()), "a second end of " + outcome);
        check(inFlight.containsKey(outcome.id()), "a phantom: " + outcome);
        inFlight.remove(outcome.id());
    }
}
