package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.Readiness;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The registration of a channel in a selector.
final class RdmaSelectionKey extends AbstractSelectionKey implements Readiness {
    private final RdmaSelector selector;
    private final SelectableChannel channel;
    private final @Nullable SelectableRdma rdma;
    private final AtomicInteger interest = new AtomicInteger();
    private final AtomicBoolean noted = new AtomicBoolean();
    private volatile int ready;
    /// The key of the channel of the JDK that does the work, in its selector. Only for the selecting thread.
    private @Nullable SelectionKey ordinary;
    private boolean watched;
    private boolean hot;
    private int idlePasses;

    RdmaSelectionKey(RdmaSelector selector, SelectableChannel channel) {
        this.selector = selector;
        this.channel = channel;
        this.rdma = channel instanceof SelectableRdma ours ? ours : null;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public Selector selector() {
        return selector;
    }

    private void ensureValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    @Override
    public int interestOps() {
        ensureValid();
        return interest.get();
    }

    @Override
    public SelectionKey interestOps(int ops) {
        ensureValid();
        checkOperations(ops);
        if (interest.getAndSet(ops) != ops) {
            note();
        }
        return this;
    }

    @Override
    public int interestOpsOr(int ops) {
        ensureValid();
        checkOperations(ops);
        int before = interest.getAndUpdate(old -> old | ops);
        if ((before | ops) != before) {
            note();
        }
        return before;
    }

    @Override
    public int interestOpsAnd(int ops) {
        ensureValid();
        int before = interest.getAndUpdate(old -> old & ops);
        if ((before & ops) != before) {
            note();
        }
        return before;
    }

    /// The interest of a key that is being registered, which another thread may already have cancelled.
    void begin(int ops) {
        interest.set(ops);
        note();
    }

    private void checkOperations(int ops) {
        if ((ops & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException();
        }
    }

    @Override
    public int readyOps() {
        ensureValid();
        return ready;
    }

    /// Makes the selector check the channel again, if the key has an interest. On any thread.
    @Override
    public void changed() {
        if (interest.get() != 0 && !selector.isPolling(this)) {
            note();
        }
    }

    private void note() {
        if (!noted.compareAndSet(false, true)) {
            return;
        }
        boolean told = false;
        try {
            selector.note(this);
            told = true;
        } finally {
            // If memory has run out, the next change notifies the selector.
            if (!told) {
                noted.set(false);
            }
        }
    }

    // ---- The selecting thread ----

    /// The key may be noted again from here on.
    void clearNoted() {
        noted.set(false);
    }

    /// The interest, even if the key is cancelled.
    int interest() {
        return interest.get();
    }

    /// The channel if it is one of ours, otherwise null.
    @Nullable
    SelectableRdma rdma() {
        return rdma;
    }

    @Nullable
    SelectionKey ordinary() {
        return ordinary;
    }

    void setOrdinary(SelectionKey key) {
        ordinary = key;
        if (rdma != null) {
            rdma.addOrdinaryKey(key);
        }
    }

    /// Whether the selector waits for the events of the connection.
    boolean isWatched() {
        return watched;
    }

    void setWatched(boolean now) {
        watched = now;
    }

    /// Whether the selector polls the connection.
    boolean isHot() {
        return hot;
    }

    void setHot(boolean now) {
        hot = now;
        idlePasses = 0;
    }

    /// Nothing was ready.
    ///
    /// @return how many times in a row nothing was ready
    int noteIdle() {
        return ++idlePasses;
    }

    void noteBusy() {
        idlePasses = 0;
    }

    /// Sets the ready operations.
    void setReady(int ops) {
        ready = ops;
    }

    int ready() {
        return ready;
    }
}
