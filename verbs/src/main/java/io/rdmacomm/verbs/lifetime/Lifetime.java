package io.rdmacomm.verbs.lifetime;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.Driver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The place of an object in the tree of [Resource]s, and how it is closed.
public final class Lifetime {
    private static final long USERS_END_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Resource object;
    private final Driver driver;
    private final Runnable release;
    private volatile @Nullable Lifetime parent;
    private final ReentrantLock closing = new ReentrantLock();
    private final List<Lifetime> children = new ArrayList<>();
    private final List<Lifetime> users = new ArrayList<>();
    private final List<Lifetime> dependencies = new ArrayList<>();
    private volatile boolean open = true;
    private boolean closed;

    /// The lifetime of a new object, which its parent adopts.
    ///
    /// @param parent null for a context
    /// @param driver closed with the object
    public Lifetime(Resource object, @Nullable Lifetime parent, Driver driver) {
        this(object, parent, driver, driver::close);
    }

    /// The lifetime of a new object that does more than close its driver.
    ///
    /// @param release called once, after the children were closed
    public Lifetime(Resource object, @Nullable Lifetime parent, Driver driver, Runnable release) {
        this.object = object;
        this.parent = parent;
        this.driver = driver;
        this.release = release;
    }

    /// Whether [#close()] was not called.
    public boolean isOpen() {
        return open;
    }

    /// Throws [IllegalStateException] if the object is closed.
    public void checkOpen() {
        if (!open) {
            throw new IllegalStateException(object + " is closed");
        }
    }

    /// Closes the object as described in [Resource#close()].
    public void close() {
        closing.lock();
        try {
            if (!closed) {
                refuseWhileUsed();
                closeTree();
            }
        } finally {
            closing.unlock();
        }
    }

    /// Adds a child. If this object is being closed, closes the child and throws [IllegalStateException].
    public void adopt(Lifetime child) {
        boolean adopted;
        synchronized (children) {
            adopted = open;
            if (adopted) {
                children.add(child);
            }
        }
        if (!adopted) {
            child.close();
            checkOpen();
        }
    }

    /// Runs `beginning`, then adds a child. If that fails, closes the child.
    ///
    /// @param beginning declares the objects that the child uses, and registers it
    public void adopt(Lifetime child, Runnable beginning) {
        boolean begun = false;
        try {
            beginning.run();
            begun = true;
        } finally {
            if (!begun) {
                child.close();
            }
        }
        adopt(child);
    }

    /// Makes `other` the parent of this object. If `other` is being closed, closes this object and throws, as
    /// [#adopt].
    public void moveTo(Lifetime other) {
        Lifetime before = parent;
        if (before == null || before.equals(other)) {
            return;
        }
        parent = other;
        before.forget(this);
        other.adopt(this);
    }

    /// Declares that this object uses `other`, which then cannot be closed before this one.
    public void dependOn(Lifetime other) {
        synchronized (other.users) {
            other.checkOpen();
            other.users.add(this);
        }
        dependencies.add(other);
    }

    /// Whether `other` is the parent of this object.
    public boolean isChildOf(Lifetime other) {
        return other.equals(parent);
    }

    /// The number of open objects that depend on this one.
    public int users() {
        synchronized (users) {
            return users.size();
        }
    }

    private void refuseWhileUsed() {
        String busy = driver.busyWith();
        if (busy != null) {
            throw new VerbException("close " + object, Errno.EBUSY, busy);
        }
        synchronized (users) {
            if (!users.isEmpty()) {
                throw new VerbException(
                        "close " + object, Errno.EBUSY, users.getFirst().object + " uses it; close that first");
            }
            open = false;
        }
    }

    private void closeTree() {
        driver.closing();
        Throwable failure = null;
        while (true) {
            Lifetime child = newestUnusedChild();
            if (child == null) {
                break;
            }
            child.awaitUsersThatEnd();
            failure = attempt(child::close, failure);
            forget(child);
        }
        closed = true;
        failure = attempt(release, failure);
        for (Lifetime dependency : dependencies) {
            synchronized (dependency.users) {
                dependency.users.remove(this);
                dependency.users.notifyAll();
            }
        }
        Lifetime owner = parent;
        if (owner != null) {
            owner.forget(this);
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }

    /// Waits for objects that were being created when their parent began to close, and so are not in the tree. The
    /// threads that create them close them in a moment.
    private void awaitUsersThatEnd() {
        long end = System.nanoTime() + USERS_END_NANOS;
        synchronized (users) {
            long left = USERS_END_NANOS;
            while (!users.isEmpty() && left > 0) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(users, left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
                left = end - System.nanoTime();
            }
        }
    }

    /// The child to close next: the newest that no sibling uses, so that queue pairs are closed before their
    /// completion queues.
    private @Nullable Lifetime newestUnusedChild() {
        synchronized (children) {
            for (Lifetime child : children.reversed()) {
                if (!child.isUsed()) {
                    return child;
                }
            }
            return children.isEmpty() ? null : children.getLast();
        }
    }

    private boolean isUsed() {
        if (driver.busyWith() != null) {
            return true;
        }
        synchronized (users) {
            return !users.isEmpty();
        }
    }

    private void forget(Lifetime child) {
        synchronized (children) {
            children.remove(child);
        }
    }

    /// Runs a step of closing. If it fails, the next steps are still taken.
    private static @Nullable Throwable attempt(Runnable step, @Nullable Throwable earlier) {
        try {
            step.run();
            return earlier;
        } catch (RuntimeException | Error e) {
            if (earlier == null) {
                return e;
            }
            earlier.addSuppressed(e);
            return earlier;
        }
    }
}
