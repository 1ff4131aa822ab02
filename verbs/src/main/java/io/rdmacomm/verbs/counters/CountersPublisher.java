package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.counters.file.CountersFolder;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.statistics.ProcessIdentity;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Copies the counters of the sessions and sockets of this process into its counters file: once a second, but only
/// every four seconds with a thousand records, because each takes time.
///
/// The file exists while there are sources. This class has no thread: the threads of the control channels of
/// sessions, which wake twice a second anyway, call [#tick()], and so does a thread for sockets. The first call
/// creates the file, so that no connection waits for that. The data path is not involved. `-Drdmacomm.counters=off`
/// turns it off; so does the first failure, which is logged. Thread-safe.
public final class CountersPublisher {
    private static final SafeLogger LOGGER = SafeLogger.of("io.rdmacomm.verbs");
    private static final long INTERVAL_NANOS = 1_000_000_000;
    private static final long RECORD_NANOS = 4_000_000;
    /// `rdmacomm top` considers a file stale after five seconds.
    private static final long LONGEST_INTERVAL_NANOS = 4 * INTERVAL_NANOS;

    /// The publisher of this process.
    public static final CountersPublisher PROCESS =
            new CountersPublisher(!"off".equals(System.getProperty("rdmacomm.counters", "on")), true);

    private final boolean removesAtExit;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<CounterSource> sources = new ArrayList<>();
    private final ProcessIdentity process = ProcessIdentity.own();
    private final String command = ProcessCommand.text();
    private boolean enabled;
    private boolean hooked;
    private @Nullable CountersFile file;
    /// Whether there is a file, or one is wanted.
    private volatile boolean active;
    private volatile long due;

    /// @param removesAtExit whether the file is removed when the JVM ends before the last session is closed
    CountersPublisher(boolean enabled, boolean removesAtExit) {
        this.enabled = enabled;
        this.removesAtExit = removesAtExit;
    }

    /// Publishes the counters of `source` from the next [#tick()] on.
    public void add(CounterSource source) {
        lock.lock();
        try {
            sources.add(source);
            if (enabled && !active) {
                due = System.nanoTime();
                active = true;
            }
        } finally {
            lock.unlock();
        }
    }

    /// Stops publishing the counters of `source`. The last source removes the file. Idempotent.
    public void remove(CounterSource source) {
        lock.lock();
        try {
            sources.remove(source);
            if (sources.isEmpty()) {
                close();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Publishes if it is due, unless another thread does; called periodically. Does not wait for a
    /// lock.
    public void tick() {
        if (active && System.nanoTime() - due >= 0 && lock.tryLock()) {
            try {
                if (active && System.nanoTime() - due >= 0) {
                    publish();
                }
            } catch (Error e) {
                // Most likely out of memory. The threads of the control channels must continue; the next tick
                // tries again.
                LOGGER.log(Level.DEBUG, "the counters are not written this time", e);
            } finally {
                lock.unlock();
            }
        }
    }

    private @Nullable CountersFile open() {
        try {
            CountersFile made = CountersFile.create(CountersFolder.ofUser(), process);
            file = made;
            if (removesAtExit && !hooked) {
                hooked = true;
                Runtime.getRuntime().addShutdownHook(new Thread(this::removeAtExit, "rdmacomm-counters-clean-up"));
            }
            return made;
        } catch (IllegalStateException e) {
            // The JVM is ending.
            close();
        } catch (IOException | RuntimeException e) {
            giveUp(e);
        }
        return null;
    }

    private void publish() {
        CountersFile to = file == null ? open() : file;
        if (to == null) {
            return;
        }
        List<PublishedChannel> records = new ArrayList<>();
        for (CounterSource source : sources) {
            records.addAll(source.records());
        }
        long interval = Math.clamp(records.size() * RECORD_NANOS, INTERVAL_NANOS, LONGEST_INTERVAL_NANOS);
        due = System.nanoTime() + interval;
        try {
            to.write(CountersEncoder.encode(
                    new PublishedProcess(process, command, System.nanoTime(), System.currentTimeMillis(), 0, records)));
        } catch (IOException | RuntimeException e) {
            giveUp(e);
        }
    }

    private void giveUp(Exception why) {
        enabled = false;
        close();
        LOGGER.log(
                Level.WARNING,
                "rdmacomm top does not see this process, because its counters cannot be written: " + why.getMessage()
                        + "; set -D" + CountersFolder.PROPERTY + " to another folder, or -Drdmacomm.counters=off");
    }

    private void close() {
        active = false;
        CountersFile open = file;
        file = null;
        if (open != null) {
            open.close();
        }
    }

    private void removeAtExit() {
        lock.lock();
        try {
            enabled = false;
            close();
        } finally {
            lock.unlock();
        }
    }
}
