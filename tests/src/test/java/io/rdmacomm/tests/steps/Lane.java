package io.rdmacomm.tests.steps;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.End;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.HelperProcess;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.LocalSharedReceives;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Steps;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Runs cases one after the other, with a survivor in this process that lives through all of them, and with processes
/// that do not. One thread at a time.
final class Lane implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 60;
    private static final long NOTICED_MILLIS = 20_000;

    private final Fabric fabric;
    private final Path classes;
    private final LocalEnd here;
    private @Nullable HelperProcess process;
    private @Nullable End there;

    /// @param classes of the doomed processes
    Lane(Fabric fabric, Path classes) {
        this.fabric = fabric;
        this.classes = classes;
        this.here = LocalEnd.open(fabric.device());
    }

    /// Lists the steps of an action.
    List<String> steps(PeerAction action, boolean events) {
        HelperProcess running = running();
        StepPair pair = pair(action);
        Survivor survivor = new Survivor(pair, action, events);
        Steps steps = running.host().steps();
        steps.record();
        CompletableFuture<Void> acting = CompletableFuture.runAsync(() -> action.act(pair), Thread::startVirtualThread);
        survivor.workUntil(acting::isDone);
        List<String> places = steps.end();
        pair.close();
        pair.closeThere();
        return places;
    }

    private HelperProcess running() {
        HelperProcess running = process;
        if (running == null || !running.isAlive()) {
            running = HelperProcess.startStepped(classes);
            process = running;
            there = running.host().open(fabric.device());
        }
        return running;
    }

    private StepPair pair(PeerAction action) {
        End other = there;
        if (other == null) {
            throw new IllegalStateException("no process is running");
        }
        return new StepPair(action, fabric.sharesMemory(), here, other);
    }

    /// Runs a case.
    ///
    /// @return what is wrong, or null
    @Nullable
    Throwable run(Case each) {
        HelperProcess doomed = running();
        try {
            run(each, doomed);
            return null;
        } catch (Exception | AssertionError e) {
            doomed.kill();
            return e;
        }
    }

    private void run(Case each, HelperProcess doomed) throws Exception {
        StepPair pair = pair(each.action());
        Survivor survivor = new Survivor(pair, each.action(), each.events());
        if (each.fault() == PeerFault.KILLED) {
            CompletableFuture<Void> acting = act(pair, each, doomed);
            survivor.workUntilEnded(leftover(pair));
            end(acting);
        } else {
            CompletableFuture<Void> acting = act(pair, each, doomed);
            survivor.workUntil(() -> acting.isDone() || doomed.isStopped());
            survivor.peerStopped();
            if (each.fault() == PeerFault.STOPPED_AND_LEFT) {
                leave(pair, doomed, acting);
                pair.closeThere();
                return;
            }
            fail(pair, survivor, each);
            if (each.fault() == PeerFault.STOPPED_AND_KILLED) {
                doomed.kill();
            } else {
                doomed.thaw();
            }
            end(acting);
        }
        survivor.workUntilEnded(leftover(pair));
        pair.here().awaitState(QueuePairState.ERROR);
        if (pair.shared() != null) {
            checkShared(pair, survivor, pair.shared());
        }
        survivor.checkQuiet();
        pair.checkMemory();
        pair.close();
        if (!each.fault().isDeath()) {
            pair.closeThere();
        }
    }

    /// Receives of a shared queue that no message has taken do not end.
    private static int leftover(StepPair pair) {
        return pair.shared() == null ? 0 : StepPair.RECEIVES;
    }

    /// Begins with the action. If that is done before the process has come to its step, the process survives it.
    private static CompletableFuture<Void> act(StepPair pair, Case each, HelperProcess doomed) {
        Steps steps = doomed.host().steps();
        steps.signalAfter(each.step(), each.fault().signal());
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        each.action().act(pair);
                        steps.end();
                    } catch (UndeclaredThrowableException e) {
                        // It ended meanwhile, as it should.
                    } finally {
                        if (each.fault() == PeerFault.KILLED) {
                            doomed.kill();
                        }
                    }
                },
                Thread::startVirtualThread);
    }

    private static void end(CompletableFuture<Void> acting)
            throws InterruptedException, ExecutionException, TimeoutException {
        acting.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /// Lets the queue pair fail. At most the receive that the stopped process had taken remains.
    private void fail(StepPair pair, Survivor survivor, Case each) {
        if (each.fault() == PeerFault.STOPPED_AND_PARTED) {
            LostConnection.of(pair.here().info(), pair.thereInfo());
        }
        if (each.fault() == PeerFault.STOPPED_AND_PARTED && !each.action().has(PeerAction.Trait.UNCONNECTED)) {
            pair.here().awaitState(QueuePairState.ERROR);
        } else {
            pair.here().modify(QueuePairState.ERROR);
        }
        survivor.workUntilEnded(pair.shared() == null ? 1 : StepPair.RECEIVES);
    }

    /// Closes everything and makes new objects: nothing of the old peer reaches them.
    private void leave(StepPair pair, HelperProcess stopped, CompletableFuture<Void> acting) throws Exception {
        pair.checkMemory();
        pair.close();
        LocalMemory memory = here.allocate(4096, AccessFlag.allRemote());
        memory.fill(StepPair.OURS);
        LocalQueue fresh = here.queue(Spec.usual());
        LocalQueue loop = here.queue(Spec.usual());
        fresh.connect(loop.info(), ConnectionOptions.defaults());
        loop.connect(fresh.info(), ConnectionOptions.defaults());
        for (int i = 0; i < StepPair.RECEIVES; i++) {
            fresh.receive(i, memory.piece(64L * i, 8));
        }
        stopped.thaw();
        end(acting);
        check(fresh.poll().isEmpty() && loop.poll().isEmpty(), "a completion of nobody");
        for (byte each : memory.read(0, 4096)) {
            check(each == StepPair.OURS, "new memory has changed");
        }
        for (int i = 0; i < StepPair.RECEIVES; i++) {
            loop.post(Work.send(i, memory.piece(2048, 8)));
            Outcome received = fresh.one();
            check(received.id() == i && received.status() == WorkStatus.SUCCESS, "the wrong receive: " + received);
            check(loop.one().status() == WorkStatus.SUCCESS, "a message has failed");
        }
        fresh.close();
        loop.close();
        memory.close();
    }

    private static void check(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    /// Every receive of a shared queue has either ended or is there for the next message.
    private void checkShared(StepPair pair, Survivor survivor, LocalSharedReceives shared) {
        check(
                pair.here().happens(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED, NOTICED_MILLIS),
                "no event for the last receive");
        survivor.workUntilEnded(StepPair.RECEIVES);
        LocalQueue next = here.queueOn(shared, Spec.usual());
        LocalQueue loop = here.queue(Spec.usual());
        next.connect(loop.info(), ConnectionOptions.defaults());
        loop.connect(next.info(), ConnectionOptions.defaults());
        // A receive that a dead process had taken may end a little later.
        int sent = 0;
        int got = 0;
        Deadline deadline = Deadline.in(NOTICED_MILLIS);
        while (survivor.receivesLeft() > 0) {
            check(deadline.waiting(), survivor.receivesLeft() + " receives of the shared queue are lost");
            if (sent == got) {
                loop.post(Work.send(sent++));
            }
            for (Outcome received : next.poll()) {
                survivor.usedUp(received);
                got++;
            }
            survivor.workUntilEnded(StepPair.RECEIVES);
        }
        next.close();
        loop.close();
    }

    @Override
    public void close() {
        here.close();
        HelperProcess running = process;
        if (running != null && running.isAlive()) {
            running.close();
        }
        // The next context to open removes the files of killed processes.
        LocalEnd.open(fabric.device()).close();
    }
}
