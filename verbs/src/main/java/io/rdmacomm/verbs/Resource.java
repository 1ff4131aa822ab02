package io.rdmacomm.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A verbs object that is created from a parent, may have children, and must be closed.
///
/// The tree is Context -> {CompletionChannel, CompletionQueue, ProtectionDomain -> {MemoryRegion, MemoryWindow,
/// SharedReceiveQueue, AddressHandle, QueuePair}}. [#close()] is idempotent and thread-safe, and closes the
/// children first, newest first. An object that another one uses without being its parent, such as the completion
/// queue of a queue pair, fails to close with EBUSY until the other is closed, as in C. Using a closed object
/// throws an [IllegalStateException] that names it.
public abstract class Resource implements AutoCloseable {
    private volatile @Nullable Resource parent;
    private final ReentrantLock closing = new ReentrantLock();
    private final List<Resource> children = new ArrayList<>();
    private final List<Resource> users = new ArrayList<>();
    private final List<Resource> dependencies = new ArrayList<>();
    private volatile boolean open = true;
    private boolean closed;

    /// A new object. The factory method of its parent adopts it.
    ///
    /// @param parent the object that creates it; null for a context
    protected Resource(@Nullable Resource parent) {
        this.parent = parent;
    }

    /// The name of this object in messages, for example `queue pair 0x11 on soft0`.
    @Override
    public abstract String toString();

    /// Whether the object is usable: [#close()] was not called.
    public final boolean isOpen() {
        return open;
    }

    /// Releases the object, after its children. Does nothing if it is already closed; waits if another thread is
    /// closing it.
    ///
    /// @throws VerbException EBUSY if another open object uses this one; then nothing is closed
    @Override
    public final void close() {
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

    /// Releases the provider's resources of this object. Called once, after the children were closed.
    protected abstract void doClose();

    /// Wakes the threads that wait on this object. Called once when closing begins, before the children are
    /// closed.
    protected void onClosing() {}

    /// The reason why this object cannot be closed now, apart from objects that depend on it; null if there is
    /// none.
    protected @Nullable String busyWith() {
        return null;
    }

    /// The [#busyWith()] of `other`, for providers whose objects stand for those of another provider.
    protected static @Nullable String whyBusy(Resource other) {
        return other.busyWith();
    }

    /// Throws [IllegalStateException] if this object is closed.
    protected final void checkOpen() {
        if (!open) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    /// Adds a child. If this object is being closed, closes the child and throws [IllegalStateException].
    ///
    /// @return the child
    protected final <T extends Resource> T adopt(T child) {
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
        return child;
    }

    /// Makes `other` the parent of this object. If `other` is being closed, closes this object and throws, as
    /// [#adopt].
    final void moveTo(Resource other) {
        Resource before = parent;
        if (before == null || before.equals(other)) {
            return;
        }
        parent = other;
        before.forget(this);
        other.adopt(this);
    }

    /// Declares that this object uses `other`, which then cannot be closed before this one.
    protected final void dependOn(Resource other) {
        synchronized (other.users) {
            other.checkOpen();
            other.users.add(this);
        }
        dependencies.add(other);
    }

    /// The open children of type `type`, oldest first.
    protected final <T extends Resource> List<T> children(Class<T> type) {
        List<T> found = new ArrayList<>();
        synchronized (children) {
            for (Resource child : children) {
                if (type.isInstance(child)) {
                    found.add(type.cast(child));
                }
            }
        }
        return found;
    }

    private void refuseWhileUsed() {
        String busy = busyWith();
        if (busy != null) {
            throw new VerbException("close " + this, Errno.EBUSY, busy);
        }
        synchronized (users) {
            if (!users.isEmpty()) {
                throw new VerbException("close " + this, Errno.EBUSY, users.getFirst() + " uses it; close that first");
            }
            open = false;
        }
    }

    private void closeTree() {
        onClosing();
        RuntimeException failure = null;
        while (true) {
            Resource child = newestUnusedChild();
            if (child == null) {
                break;
            }
            failure = attempt(child::close, failure);
            forget(child);
        }
        closed = true;
        failure = attempt(this::doClose, failure);
        for (Resource dependency : dependencies) {
            synchronized (dependency.users) {
                dependency.users.remove(this);
            }
        }
        Resource owner = parent;
        if (owner != null) {
            owner.forget(this);
        }
        if (failure != null) {
            throw failure;
        }
    }

    /// The child to close next: the newest that no sibling uses, so that queue pairs are closed before their
    /// completion queues.
    private @Nullable Resource newestUnusedChild() {
        synchronized (children) {
            for (Resource child : children.reversed()) {
                if (!child.isUsed()) {
                    return child;
                }
            }
            return children.isEmpty() ? null : children.getLast();
        }
    }

    private boolean isUsed() {
        if (busyWith() != null) {
            return true;
        }
        synchronized (users) {
            return !users.isEmpty();
        }
    }

    private void forget(Resource child) {
        synchronized (children) {
            children.remove(child);
        }
    }

    private static @Nullable RuntimeException attempt(Runnable step, @Nullable RuntimeException earlier) {
        try {
            step.run();
            return earlier;
        } catch (RuntimeException e) {
            if (earlier == null) {
                return e;
            }
            earlier.addSuppressed(e);
            return earlier;
        }
    }
}
