package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.GroupMember;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The lower half of a channel: one queue pair with its [SendQueue] and its receives, from creation to the
/// end of the last operation. It does not depend on peers and endpoints, and reports to its [ChannelEvents].
///
/// Everything in flight ends exactly once, on every device: the queue pair goes to ERROR, the device gets a bounded
/// time to flush, the queue pair is closed, and the remaining operations end here. After ibv_destroy_qp(3) returns,
/// the device does not touch the memory of the queue pair; later completions find no member in the group.
public final class RdmaAdapter<H> implements GroupMember, AutoCloseable {
    private final CompletionGroup group;
    private final ChannelSizes sizes;
    private final ChannelMemory memory;
    private final ChannelEvents<H> events;
    private final ChannelCounters counters = new ChannelCounters();
    private final QueuePair queuePair;
    private final long workIdBase;
    private final SendQueue<H> sends;
    private final int receivesAtFirst;
    private final ChannelReceives receives;
    private final boolean flushesItself;
    private final ReentrantLock closing = new ReentrantLock();
    private volatile @Nullable Connection connection;
    private volatile boolean neverUp;
    private boolean ended;
    private boolean queuePairClosed;
    private boolean closed;
    // Guarded by the group; changes on the polling thread.
    private boolean left;

    /// @param name the channel's name
    /// @param source where its receives come from
    /// @param arena lives as long as the adapter
    public RdmaAdapter(
            String name,
            CompletionGroup group,
            ProtectionDomain domain,
            ChannelSizes sizes,
            ChannelMemory memory,
            ReceiveSource source,
            Arena arena,
            ChannelEvents<H> events) {
        this.group = group;
        this.sizes = sizes;
        this.memory = memory;
        this.events = events;
        this.receivesAtFirst = source.atFirst();
        this.flushesItself = domain.context().supports(Capability.FLUSH_IN_ERROR);
        boolean fenced = !domain.context().supports(Capability.ORDERED_COMPLETIONS);
        group.reserve(sizes.completions());
        QueuePair created = null;
        long joined = 0;
        try {
            // Sends are posted under the lock of their queue, receives under the lock of their pool.
            created = queuePair(domain, source, sizes.inlineBytes());
            joined = group.join(this);
            this.queuePair = created;
            this.workIdBase = joined;
            this.sends = new SendQueue<>(
                    name,
                    group,
                    queuePair,
                    workIdBase,
                    sizes,
                    receivesAtFirst,
                    memory,
                    arena,
                    fenced,
                    counters,
                    events);
            this.receives = source.attach(
                    new ChannelParts(queuePair, workIdBase, sends, group, this, this::lost, events::onRecall));
            group.watch(workIdBase, this);
        } catch (RuntimeException e) {
            undo(created, joined);
            throw e;
        }
    }

    /// A queue pair with at most this many inline bytes. No attribute reports the limit of a device (mana 0, irdma
    /// 48 or 101), and creating a queue pair with more fails.
    private QueuePair queuePair(ProtectionDomain domain, ReceiveSource source, int inlineBytes) {
        try {
            return domain.createQueuePair(source.of(QueuePairOptions.reliable(group.queue())
                    .withSizes(new QueueSizes(sizes.sends(), 0, readElements(domain.context()), 1, inlineBytes))
                    .withSingleThreaded(true)));
        } catch (VerbException e) {
            if (e.errno() != Errno.EINVAL || inlineBytes == 0) {
                throw e;
            }
            return queuePair(domain, source, inlineBytes / 2);
        }
    }

    /// The most elements of local memory of a READ. siw allows one.
    public static int readElements(Context context) {
        long most = context.limit(DeviceLimit.MAX_SGE);
        long ofReads = context.limit(DeviceLimit.MAX_SGE_READ);
        // Some drivers report 0, which is no limit.
        return (int) Math.min(Operation.MOST_ELEMENTS, ofReads == 0 ? most : Math.min(most, ofReads));
    }

    private void lost() {
        events.onWorkFailed("receive", WorkStatus.FLUSHED, 0);
    }

    private void undo(@Nullable QueuePair created, long joined) {
        if (created != null) {
            created.close();
        }
        if (joined != 0) {
            group.runExclusively(() -> group.leave(joined));
        }
        group.unreserve(sizes.completions());
    }

    /// The operations.
    public SendQueue<H> sends() {
        return sends;
    }

    /// The receives that its messages arrive in.
    public ReceiveBlocks receives() {
        return receives.blocks();
    }

    /// Whether the last message in this receive belonged to this channel. On any thread; it may be out of
    /// date.
    public boolean holds(int receive) {
        return receives.holds(receive);
    }

    /// The peer has returned `count` receives of a shared pool.
    ///
    /// @return false if it did not have that many
    public boolean returned(int count) {
        return receives.returned(count);
    }

    /// The group that its work completes in.
    public CompletionGroup group() {
        return group;
    }

    /// Its counters.
    public ChannelCounters counters() {
        return counters;
    }

    private Context context() {
        return queuePair.protectionDomain().context();
    }

    private TransportType transport() {
        return context().device().transport();
    }

    /// The description of this channel for the peer.
    public ChannelInfo info(ConnectionOptions how) {
        return new ChannelInfo(
                queuePair.info(how.path()),
                receivesAtFirst,
                sizes.messageBytes(),
                context().fitting(how).maxDestinationReadAtomic(),
                arrivalReadBytes(),
                memory.cellAddress(),
                memory.cellsRemoteKey());
    }

    /// The bytes that an arrival read of the peer READs. A READ of zero bytes needs no access right, but siw
    /// mishandles it.
    private int arrivalReadBytes() {
        return transport() == TransportType.IWARP ? Long.BYTES : 0;
    }

    /// Brings the queue pair up.
    ///
    /// @param connect connects the queue pair with the given options; returns the connection to close before
    ///         the queue pair, or null
    /// @param sendsFirst whether this side must send first
    public void connect(
            ChannelInfo peer,
            ConnectionOptions how,
            boolean sendsFirst,
            Function<ConnectionOptions, @Nullable Connection> connect) {
        // On InfiniBand and RoCE an operation completes when the peer has acknowledged it, on iWARP when TCP has
        // accepted it (RFC 5040, section 5.5). On any other device, the peer may use iWARP.
        sends.begin(peer, transport() == TransportType.INFINIBAND);
        // The peer's credit updates are WRITEs, whatever its other rights.
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        if (arrivalReadBytes() > 0) {
            access.add(AccessFlag.REMOTE_READ);
        }
        access.addAll(how.accessFlags());
        // Arrival reads need one READ in flight.
        ConnectionOptions fitting = context().fitting(how);
        int readAtomic = Math.max(1, Math.min(fitting.maxReadAtomic(), peer.readAtomic()));
        // The library needs one READ itself, whatever the program sets.
        int answered = Math.max(1, fitting.maxDestinationReadAtomic());
        connection = connect.apply(fitting.withAccessFlags(access).withReadAtomic(readAtomic, answered));
        if (sendsFirst) {
            sends.sendNoOpUpdate();
        }
    }

    /// The queue pair, so that it can be connected.
    public QueuePair queuePair() {
        return queuePair;
    }

    /// Posts the receives, as soon as the queue pair accepts them and before the peer may send.
    public void postReceives() {
        receives.begin();
    }

    @Override
    public void completed(Completions completions, int index, long workId) {
        sends.completed(completions, index, workId);
    }

    @Override
    public boolean hasEnded() {
        return sends.hasEnded();
    }

    @Override
    public int finishEnded() {
        return sends.finishEnded();
    }

    @Override
    public void received(Completions completions, int index, int receive) {
        if (!completions.isSuccess(index)) {
            events.onWorkFailed("receive", completions.status(index), completions.vendorError(index));
            return;
        }
        boolean tagged = completions.hasImmediate(index);
        boolean notice = tagged && completions.opcode(index) == CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE;
        long length = completions.byteLength(index);
        counters.count(notice ? ChannelCounter.NOTICES : ChannelCounter.MESSAGES);
        counters.add(ChannelCounter.BYTES_IN, length);
        events.onArrival(receive, length, notice, tagged, tagged ? completions.immediate(index) : 0);
    }

    @Override
    public void failed(RdmaException why) {
        events.onFailed(why);
    }

    /// Requests a call of [ChannelEvents#onFailed] on the polling thread. If it throws, it is called again.
    /// Any thread; allocates nothing.
    public void condemn(Throwable why) {
        group.condemn(workIdBase, why);
    }

    /// Requests one call of [ChannelEvents#onAttention()] on the polling thread.
    public void attention() {
        group.submit(events::onAttention);
    }

    /// Requests the call in the next round, for a condition that raises no event. On the polling thread.
    public void attentionLater() {
        group.submitCheck(events::onAttention);
    }

    /// The device's reason for the end of the connection; null if there is none.
    public @Nullable String disconnectReason() {
        Connection made = connection;
        return made == null ? null : made.disconnectReason();
    }

    /// Moves the queue pair to ERROR: the device flushes operations in flight, if it can. Does not wait for
    /// that.
    public void stop() {
        receives.end();
        sends.end();
        try {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        } catch (RdmaException | IllegalStateException e) {
            // The queue pair was never connected, or is closed already: nothing is in flight.
            neverUp = true;
        }
    }

    /// Whether the device has flushed the operations in flight at [#stop()], if it can.
    boolean isFlushed() {
        return (!flushesItself || sends.isIdle()) && (neverUp || receives.isFlushed());
    }

    /// Ends everything in flight after [#stop()]: closes the queue pair, and then the polling thread ends the
    /// operations that the device has not flushed. New operations must already be rejected. Idempotent.
    public void end() {
        closing.lock();
        try {
            if (ended) {
                return;
            }
            receives.end();
            sends.end();
            Connection made = connection;
            if (made != null) {
                made.close();
            }
            receives.beforeClose(group, this::closeQueuePair);
            // Last: if a step above throws, the next call repeats it.
            ended = true;
        } finally {
            closing.unlock();
        }
    }

    private void closeQueuePair() {
        closing.lock();
        try {
            if (!queuePairClosed) {
                queuePair.close();
                group.submit(this::endOperations);
                queuePairClosed = true;
            }
        } finally {
            closing.unlock();
        }
    }

    private void endOperations() {
        if (!left) {
            left = true;
            // Operations that have completed keep their status.
            group.drain();
            group.leave(workIdBase);
            receives.ended();
            sends.flush();
        }
    }

    /// Ends everything that is in flight, and returns when all handlers have been called. Idempotent.
    @Override
    public void close() {
        end();
        group.runExclusively(group::drain);
        closeQueuePair();
        group.runExclusively(this::endOperations);
        closing.lock();
        try {
            if (!closed) {
                closed = true;
                group.unreserve(sizes.completions());
            }
        } finally {
            closing.unlock();
        }
    }
}
