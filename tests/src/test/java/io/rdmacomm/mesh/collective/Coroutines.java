package io.rdmacomm.mesh.collective;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Programs that take turns: one runs until it waits for another one, in the same order each time. When all that are
/// left wait, that is a deadlock, and it is found at once.
///
/// Each is a virtual thread. What they share needs no lock: a turn passes on all that was written before.
final class Coroutines {
    private final List<Coroutine> all = new ArrayList<>();
    private final Queue<Coroutine> ready = new ArrayDeque<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private @Nullable Coroutine running;
    private volatile @Nullable Throwable failure;
    private int left;

    /// One of them.
    final class Coroutine {
        private final int index;
        private final Thread thread;
        private volatile boolean turn;
        private boolean started;

        private Coroutine(int index, IntConsumer program) {
            this.index = index;
            this.thread = Thread.ofVirtual().unstarted(() -> live(program));
        }

        private void live(IntConsumer program) {
            try {
                program.accept(index);
            } catch (Throwable e) {
                end(e);
                return;
            }
            left--;
            passOn();
        }

        private void resume() {
            running = this;
            if (started) {
                turn = true;
                LockSupport.unpark(thread);
            } else {
                started = true;
                thread.start();
            }
        }

        private void awaitTurn() {
            while (!turn) {
                LockSupport.park(this);
                if (failure != null) {
                    throw new IllegalStateException("another one has failed", failure);
                }
            }
            turn = false;
        }
    }

    /// Runs a program `count` times, and returns when all have ended.
    ///
    /// @param program is given its index
    /// @throws IllegalStateException if one fails, or all that are left wait
    void run(int count, IntConsumer program) throws InterruptedException {
        left = count;
        for (int i = 0; i < count; i++) {
            Coroutine one = new Coroutine(i, program);
            all.add(one);
            ready.add(one);
        }
        passOn();
        over.await();
        Throwable why = failure;
        if (why != null) {
            all.forEach(one -> LockSupport.unpark(one.thread));
            throw new IllegalStateException(why.getMessage(), why);
        }
    }

    /// The one whose turn it is.
    Coroutine current() {
        Coroutine now = running;
        if (now == null) {
            throw new IllegalStateException("nothing runs");
        }
        return now;
    }

    /// Lets the others run until one of them has woken this one.
    void pause() {
        Coroutine self = current();
        passOn();
        self.awaitTurn();
    }

    /// Gives one that has paused another turn.
    void wake(Coroutine one) {
        ready.add(one);
    }

    private void passOn() {
        Coroutine next = ready.poll();
        if (next != null) {
            next.resume();
        } else if (left == 0) {
            over.countDown();
        } else {
            end(new IllegalStateException("deadlock: " + left + " of " + all.size() + " wait for each other"));
        }
    }

    private void end(Throwable why) {
        failure = why;
        over.countDown();
    }
}
