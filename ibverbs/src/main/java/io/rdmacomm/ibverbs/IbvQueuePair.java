package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.QueuePairAttributesLayout;
import io.rdmacomm.ibverbs.ffm.QueuePairLayout;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttribute;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.TransportType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A queue pair (`struct ibv_qp`). Batches are in the C layout already: posting hands their address on.
///
/// States, attributes, sizes and queue depths were checked before anything comes here, because drivers do not
/// agree on it: rxe keeps a request that it refuses, and carries it out later.
final class IbvQueuePair extends QueuePair {
    private static final String POST_SEND = "post send (ibv_post_send)";
    private static final String POST_RECEIVE = "post receive (ibv_post_recv)";
    /// What libsiw returns when write(2) did (`siw_db`).
    private static final int DOORBELL_FAILED = -1;

    private final IbvContext context;
    private final LibIbverbs library;
    private final ContextOps ops;
    private final long address;
    private final int number;
    private final QueueSizes sizes;
    private final BadRequest badSend = new BadRequest();
    private final BadRequest badReceive = new BadRequest();
    private final RecentBindings bindings;
    /// Null where the device leaves none.
    private final @Nullable OutstandingSends outstandingSends;
    /// Null where the device leaves none, and with a shared receive queue.
    private final @Nullable OutstandingReceives outstandingReceives;
    /// Null elsewhere than on siw.
    private final @Nullable SiwElements siwElements;

    private IbvQueuePair(IbvProtectionDomain domain, QueuePairOptions options, long address, QueueSizes sizes) {
        super(domain, options);
        this.context = domain.ibvContext();
        this.library = context.library();
        this.ops = context.ops();
        this.address = address;
        this.sizes = sizes;
        this.bindings = new RecentBindings(sizes.sends());
        this.number = NativeMemory.at(address, QueuePairLayout.BYTES).get(JAVA_INT, QueuePairLayout.NUMBER);
        LateFlush lateFlush = ((IbvCompletionQueue) options.sendCompletions()).lateFlush();
        this.outstandingSends = lateFlush == null ? null : new OutstandingSends(lateFlush, number, sizes.sends());
        LateFlush ofReceives = ((IbvCompletionQueue) options.receiveCompletions()).lateFlush();
        this.outstandingReceives = ofReceives == null || options.sharedReceives() != null
                ? null
                : new OutstandingReceives(ofReceives, number, sizes.receives());
        this.siwElements = lateFlush == null ? null : new SiwElements(sizes.sends());
        context.leavingNumbers().await(number);
        context.objects().add(address, this);
    }

    static IbvQueuePair create(IbvProtectionDomain domain, QueuePairOptions options) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = arena.allocate(QueuePairLayout.INIT_BYTES, 8);
            QueuePairStructs.writeInit(options, init);
            long address = IbvFailure.address(
                    "create queue pair (ibv_create_qp)",
                    domain.ibvContext().library().createQueuePair(domain.address(), init.address()),
                    options.type() + " of " + options.sizes() + " on " + domain.ibvContext());
            return new IbvQueuePair(domain, options, address, QueuePairStructs.readSizes(init));
        }
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    protected QueueSizes doSizes() {
        return sizes;
    }

    /// Checked here, as siw is not told how many there are: it fills the first element, and says that all went
    /// well.
    @Override
    protected int doReadElements() {
        int allowed = context.readElements();
        return allowed == 0 ? sizes.sendElements() : Math.min(allowed, sizes.sendElements());
    }

    /// The sends that are under way, where the device may leave some of them.
    @Nullable
    OutstandingSends outstandingSends() {
        return outstandingSends;
    }

    /// The receives that wait, where the device may leave some of them.
    @Nullable
    OutstandingReceives outstandingReceives() {
        return outstandingReceives;
    }

    @Override
    protected int doPost(SendBatch batch, int first, int count) {
        OutstandingSends sends = outstandingSends;
        SiwElements elements = siwElements;
        return sends == null || elements == null
                ? handOn(batch, first, count)
                : keepAcceptable(sends, elements, batch, first, count);
    }

    private int keepAcceptable(OutstandingSends sends, SiwElements elements, SendBatch batch, int first, int count) {
        int good = SiwRejections.acceptable(batch, first, count);
        int taken = 0;
        if (good > 0) {
            batch.endAfter(first + good - 1);
            taken = keep(sends, elements, batch, first, good);
        }
        if (taken == good && good < count) {
            throw SiwRejections.rejection(POST_SEND, batch, first + good, context);
        }
        return taken;
    }

    /// Posts to a device that may leave the requests where they are: what is posted in ERROR does not even go
    /// there.
    private int keep(OutstandingSends sends, SiwElements elements, SendBatch batch, int first, int count) {
        if (state() == QueuePairState.ERROR) {
            return sends.addFailed(batch, first, count);
        }
        boolean all = options().signalAll();
        sends.add(batch, first, count, all);
        int taken = 0;
        RuntimeException refusal = null;
        boolean replaced = elements.replace(batch, first, count);
        try {
            taken = handOn(batch, first, count);
        } catch (RuntimeException e) {
            refusal = e;
        } finally {
            if (replaced) {
                elements.restore(batch, first, count);
            }
        }
        // What was told to have ended was posted, whatever the device says.
        taken += sends.withdraw(batch, first + taken, count - taken, all);
        if (refusal != null && taken == 0) {
            throw refusal;
        }
        if (state() == QueuePairState.ERROR) {
            sends.announce(); // it has failed meanwhile, and what was left then may have been flushed already
        }
        return taken;
    }

    private int handOn(SendBatch batch, int first, int count) {
        long start = batch.segment().address() + batch.at(first);
        int result = ops.postSend(address, start, badSend.address());
        if (result == DOORBELL_FAILED && outstandingSends != null && badSend.isNone()) {
            // They are in the queue, but the kernel takes none while the connection ends (`siw_post_send`).
            noticeState();
            return count;
        }
        int taken = result == 0 ? count : badSend.taken(POST_SEND, result, batch, first, count, this);
        if (batch.contains(SendOpcode.BIND_WINDOW)) {
            noteBindings(batch, first, taken);
        }
        return taken;
    }

    /// The key of a window of type 2 is chosen by the request; the next request for it must find it in the window.
    private void noteBindings(SendBatch batch, int first, int taken) {
        MemorySegment requests = batch.segment();
        for (int i = first; i < first + taken; i++) {
            long at = batch.at(i);
            if (requests.get(JAVA_INT, at + SendRequestLayout.OPCODE) == SendOpcode.BIND_WINDOW.code()
                    && context.objects().find(requests.get(JAVA_LONG, at + SendRequestLayout.WINDOW))
                            instanceof IbvMemoryWindow window) {
                bindings.posted(requests.get(JAVA_LONG, at + SendRequestLayout.WORK_ID), window, window.remoteKey());
                window.remoteKey(requests.get(JAVA_INT, at + SendRequestLayout.WINDOW_KEY));
            }
        }
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        OutstandingReceives receives = outstandingReceives;
        if (receives == null) {
            return handOn(batch, first, count);
        }
        int taken = state() == QueuePairState.ERROR ? Math.min(count, receives.room()) : handOn(batch, first, count);
        receives.add(batch, first, taken);
        if (state() == QueuePairState.ERROR) {
            receives.announce();
        }
        return taken;
    }

    private int handOn(ReceiveBatch batch, int first, int count) {
        long start = batch.segment().address() + batch.at(first);
        int result = ops.postReceive(address, start, badReceive.address());
        int taken = result == 0 ? count : badReceive.taken(POST_RECEIVE, result, batch, first, count, this);
        if (state() == QueuePairState.ERROR) {
            rememberReceives();
        }
        return taken;
    }

    /// Has the device flush the receives that came after its own flush (`rxe_qp_error`), in ERROR.
    private void rememberReceives() {
        if (context.forgetsReceives()) {
            apply(new QueuePairAttributes().state(QueuePairState.ERROR));
        }
    }

    @Override
    protected void doBind(
            long workId, MemoryWindow window, MemoryRegion region, long offset, long length, int access, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment binding = arena.allocate(MemoryLayouts.BIND_BYTES, 8);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_WORK_ID, workId);
            binding.set(JAVA_INT, MemoryLayouts.BIND_FLAGS, flags);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_REGION, region.handle());
            binding.set(JAVA_LONG, MemoryLayouts.BIND_ADDRESS, region.address() + offset);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_LENGTH, length);
            binding.set(JAVA_INT, MemoryLayouts.BIND_ACCESS, access);
            // Before it is posted: another thread may poll its completion at once.
            bindings.posted(workId, (IbvMemoryWindow) window, window.remoteKey());
            int errno = ops.bindWindow(address, window.handle(), binding.address());
            if (errno != 0) {
                bindings.forget(workId);
                throw IbvFailure.of("bind memory window (ibv_bind_mw)", errno, window + " to " + region);
            }
        }
        ((IbvMemoryWindow) window).bound(length == 0 ? null : (IbvMemoryRegion) region);
    }

    @Override
    protected void doModify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
        IbvFailure.check(
                "modify queue pair (ibv_modify_qp)",
                apply(change),
                this + " from " + from + " to " + to + " with " + change.present());
        if (to == QueuePairState.ERROR) {
            // First the state: who posts without a lock looks at it behind what it has written down.
            entered(QueuePairState.ERROR);
            flushLater();
        }
    }

    /// The device has flushed, for its part.
    private void flushLater() {
        if (outstandingSends != null) {
            outstandingSends.fail();
        }
        if (outstandingReceives != null) {
            outstandingReceives.fail();
        }
    }

    /// @return 0 or the errno
    private int apply(QueuePairAttributes change) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(QueuePairAttributesLayout.BYTES, 8);
            int mask = QueuePairStructs.writeChange(change, attributes);
            return library.modifyQueuePair(address, attributes.address(), mask);
        }
    }

    @Override
    protected QueuePairState doQueryState(QueuePairState known) {
        QueuePairState now = deviceState();
        return now == null ? known : now;
    }

    /// What the device says; null if it cannot.
    private @Nullable QueuePairState deviceState() {
        if (context.device().transport() == TransportType.IWARP) {
            return null; // siw fills in nothing
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(QueuePairAttributesLayout.BYTES, 8);
            MemorySegment init = arena.allocate(QueuePairLayout.INIT_BYTES, 8);
            int errno = library.queryQueuePair(
                    address, attributes.address(), QueuePairAttribute.STATE.bit(), init.address());
            int code = attributes.get(JAVA_INT, QueuePairAttributesLayout.STATE);
            QueuePairState[] states = QueuePairState.values();
            return errno == 0 && code >= 0 && code < states.length ? states[code] : null;
        }
    }

    @Override
    protected void noticeBinding(long workId) {
        bindings.forget(workId);
    }

    @Override
    protected void noticeFailure(long workId) {
        bindings.failed(workId);
        noticeState();
    }

    /// Work of this queue pair has failed, or the device has reported something: asks the device whether the queue
    /// pair is in an error state by now. A device that cannot be asked is told to put it there.
    void noticeState() {
        if (state() == QueuePairState.ERROR) {
            return;
        }
        sendLock().lock();
        try {
            if (!isOpen() || state().code() < QueuePairState.READY_TO_RECEIVE.code()) {
                return;
            }
            QueuePairState now = deviceState();
            if (now == null) {
                // siw ends the connection when a request fails, and leaves the queue pair's state alone
                // (`siw_qp_cm_drop`): what waits in the queues is flushed when somebody changes it. If that fails,
                // the device is gone.
                apply(new QueuePairAttributes().state(QueuePairState.ERROR));
                entered(QueuePairState.ERROR);
                flushLater();
            } else if (now == QueuePairState.ERROR || now == QueuePairState.SEND_QUEUE_ERROR) {
                entered(now);
                if (now == QueuePairState.ERROR) {
                    rememberReceives();
                }
            }
        } finally {
            sendLock().unlock();
        }
    }

    /// The kernel has connected it by itself, as it does on iWARP.
    void connected() {
        sendLock().lock();
        try {
            if (isOpen() && state() == QueuePairState.INIT) {
                entered(QueuePairState.READY_TO_SEND);
            }
        } finally {
            sendLock().unlock();
        }
    }

    @Override
    protected void doDestroy() {
        context.objects().remove(address);
        if (outstandingSends != null) {
            outstandingSends.close();
        }
        if (outstandingReceives != null) {
            outstandingReceives.close();
        }
        context.leavingNumbers().add(number);
        try {
            IbvFailure.check("destroy queue pair (ibv_destroy_qp)", library.destroyQueuePair(address), toString());
            CompletionQueue ofSends = options().sendCompletions();
            CompletionQueue ofReceives = options().receiveCompletions();
            forgetCompletions(ofSends);
            if (!ofReceives.equals(ofSends)) {
                forgetCompletions(ofReceives);
            }
        } finally {
            context.leavingNumbers().remove(number);
        }
        badSend.close();
        badReceive.close();
        if (siwElements != null) {
            siwElements.close();
        }
    }

    private void forgetCompletions(CompletionQueue queue) {
        LateFlush lateFlush = ((IbvCompletionQueue) queue).lateFlush();
        if (lateFlush != null) {
            lateFlush.forget(number);
        }
    }
}
