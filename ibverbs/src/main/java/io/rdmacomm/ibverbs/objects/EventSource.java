package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.LibC;
import io.rdmacomm.ibverbs.structs.Deadline;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// A file descriptor that events are read from, and the threads that wait for it.
///
/// A platform thread waits in poll(2). A virtual thread must not, because it would pin its carrier: one helper
/// thread per source waits for all virtual threads, while there are any. [#wakeUp()] ends one wait, [#wake()] ends
/// all. [#close()] returns when no thread is between [#enter()] and [#leave()]: then the C objects behind the file
/// can be destroyed.
final class EventSource implements AutoCloseable {
    /// The longest delay until an interrupt is noticed. Each check costs an idle program CPU time.
    private static final int SLICE_MILLISECONDS = 500;
    /// The same without an eventfd, where it also delays wake-ups.
    private static final int SLICE_WITHOUT_EVENT_MILLISECONDS = 50;
    /// The time for virtual threads to read the events that they were woken for.
    private static final int SERVICE_MILLISECONDS = 50;
    /// How long the helper stays when no thread waits.
    private static final long LINGER_SECONDS = 10;

    private final int file;
    private final int event;
    private final String name;
    private int users;
    private int waiters;
    private int unserved;
    private long rounds;
    private boolean helperRuns;
    private boolean wakeUp;
    private boolean closing;

    /// @param file the descriptor; reads of it return EAGAIN from now on
    EventSource(int file, String name) {
        this.file = file;
        this.name = name;
        this.event = LibC.createEvent();
        if (!LibC.makeNonBlocking(file)) {
            throw new IllegalStateException("the events of " + name + " have no open file");
        }
    }

    /// Takes the next event; waits for one, for at most `nanos`.
    ///
    /// @param next takes an event without waiting; returns 0 if there is none
    /// @return the event; 0 after the timeout, after [#wakeUp()], and when the file is being closed
    long take(long nanos, LongSupplier next) throws InterruptedException {
        if (!enter()) {
            return 0;
        }
        try {
            long deadline = Deadline.after(nanos);
            while (true) {
                long taken = next.getAsLong();
                boolean woken = clearWakeUp();
                long left = Deadline.left(deadline);
                if (taken != 0 || woken || left <= 0 || !await(left)) {
                    return taken;
                }
            }
        } finally {
            leave();
        }
    }

    /// Begins to use the file.
    ///
    /// @return false if it is being closed and must not be used
    synchronized boolean enter() {
        if (!closing) {
            users++;
        }
        return !closing;
    }

    /// Ends what [#enter()] began.
    synchronized void leave() {
        users--;
        notifyAll();
    }

    /// Waits until the file may have something to read, for at most `nanos`; may return early.
    ///
    /// @return false if the file is being closed
    boolean await(long nanos) throws InterruptedException {
        long deadline = Deadline.after(nanos);
        if (Thread.currentThread().isVirtual()) {
            return awaitHelper(deadline);
        }
        for (long left = nanos; left > 0 && !isEnding(); left = Deadline.left(deadline)) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            long milliseconds = Math.min(slice(), TimeUnit.NANOSECONDS.toMillis(left) + 1);
            if (LibC.awaitReadable(file, event, (int) milliseconds)) {
                break;
            }
        }
        return !isClosing();
    }

    private int slice() {
        return event >= 0 ? SLICE_MILLISECONDS : SLICE_WITHOUT_EVENT_MILLISECONDS;
    }

    private synchronized boolean isClosing() {
        return closing;
    }

    private synchronized boolean isEnding() {
        return closing || wakeUp;
    }

    /// Makes a wait end early, now or later, until [#clearWakeUp()].
    synchronized void wakeUp() {
        if (!wakeUp && !closing) {
            wakeUp = true;
            notifyAll();
            if (event >= 0) {
                LibC.signal(event);
            }
        }
    }

    /// Forgets calls of [#wakeUp()].
    ///
    /// @return whether there was one
    synchronized boolean clearWakeUp() {
        boolean woken = wakeUp;
        // While the source is being closed, the event stays: it ends all waits.
        if (woken && event >= 0 && !closing) {
            LibC.clear(event);
        }
        wakeUp = false;
        return woken;
    }

    private synchronized boolean awaitHelper(long deadline) throws InterruptedException {
        long round = rounds;
        waiters++;
        startHelper();
        try {
            while (round == rounds && !closing && !wakeUp && Deadline.left(deadline) > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, Deadline.left(deadline));
            }
        } finally {
            waiters--;
            if (unserved > 0 && --unserved == 0) {
                notifyAll();
            }
        }
        return !closing;
    }

    private void startHelper() {
        if (helperRuns) {
            notifyAll();
        } else {
            helperRuns = true;
            users++;
            Thread.ofPlatform().daemon().name("rdmacomm events of " + name).start(this::help);
        }
    }

    private void help() {
        try {
            while (isWanted()) {
                if (LibC.awaitReadable(file, event, slice())) {
                    announce();
                }
            }
        } finally {
            leave();
        }
    }

    /// Whether a virtual thread waits; waits a while for one. After false the helper has ended.
    private synchronized boolean isWanted() {
        long deadline = Deadline.after(TimeUnit.SECONDS.toNanos(LINGER_SECONDS));
        try {
            while (waiters == 0 && !closing && Deadline.left(deadline) > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, Deadline.left(deadline));
            }
            helperRuns = waiters > 0 && !closing;
        } catch (InterruptedException e) {
            helperRuns = false;
        }
        return helperRuns;
    }

    /// Makes all virtual threads check the file, and gives them time for it, so that this does not spin while the
    /// file stays readable.
    private synchronized void announce() {
        rounds++;
        unserved = waiters;
        notifyAll();
        long deadline = Deadline.after(TimeUnit.MILLISECONDS.toNanos(SERVICE_MILLISECONDS));
        try {
            while (unserved > 0 && !closing && Deadline.left(deadline) > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, Deadline.left(deadline));
            }
            unserved = 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Ends all waits, now and from now on.
    synchronized void wake() {
        closing = true;
        notifyAll();
        if (event >= 0) {
            LibC.signal(event);
        }
    }

    /// Waits until no thread uses the file. The descriptor itself belongs to libibverbs.
    @Override
    public void close() {
        wake();
        boolean interrupted = false;
        synchronized (this) {
            while (users > 0) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (event >= 0) {
            LibC.close(event);
        }
    }
}
