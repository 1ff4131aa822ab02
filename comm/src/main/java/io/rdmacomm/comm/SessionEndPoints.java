package io.rdmacomm.comm;

import io.rdmacomm.comm.statistics.SessionStatistics;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/// The endpoints of a session, and the summed counters of closed ones. Thread-safe.
final class SessionEndPoints {
    private final List<EndPoint> open = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private SessionObserver observer = SessionObserver.NONE;
    private long setUp;
    private long failed;
    private ChannelStatistics closed = new ChannelStatistics();

    /// Notifies an observer of the open endpoints now, and of all changes from then on.
    void observe(SessionObserver newObserver) {
        lock.lock();
        try {
            observer = newObserver;
            open.forEach(endPoint -> newObserver.opened(endPoint.connection()));
        } finally {
            lock.unlock();
        }
    }

    /// The open endpoints, oldest first. Does not wait.
    List<EndPoint> open() {
        return open;
    }

    /// Adds an endpoint, which may be closed already.
    void keep(EndPoint endPoint) {
        lock.lock();
        try {
            setUp++;
            open.add(endPoint);
            observer.opened(endPoint.connection());
        } finally {
            lock.unlock();
        }
        if (endPoint.connection().isFreed()) {
            remove(endPoint);
        }
    }

    /// Removes an endpoint whose handlers have all been called. Idempotent.
    void remove(EndPoint endPoint) {
        lock.lock();
        try {
            if (open.remove(endPoint)) {
                closed = closed.plus(endPoint.statistics());
                failed += endPoint.failure() == null ? 0 : 1;
                observer.closed(endPoint.connection());
            }
        } finally {
            lock.unlock();
        }
    }

    SessionStatistics statistics(long handlerErrors, long registeredBytes) {
        lock.lock();
        try {
            ChannelStatistics sum = closed;
            for (EndPoint endPoint : open) {
                sum = sum.plus(endPoint.statistics());
            }
            return new SessionStatistics(open.size(), setUp, failed, handlerErrors, registeredBytes, sum);
        } finally {
            lock.unlock();
        }
    }
}
