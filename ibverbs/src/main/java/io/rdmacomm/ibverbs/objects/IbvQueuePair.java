package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.cm.ConnectedQueuePair;
import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.QueuePairAttributesLayout;
import io.rdmacomm.ibverbs.ffm.QueuePairLayout;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.ibverbs.structs.QueuePairStructs;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A queue pair (`struct ibv_qp`). Batches are in the C layout already: posting passes their address on.
///
/// States, attributes, sizes and queue depths were checked before anything gets here, because drivers differ in what
/// they check: rxe keeps a request that it rejects, and carries it out later.
public class IbvQueuePair extends QueuePair implements ConnectedQueuePair {
    private static final String POST_SEND = "post send (ibv_post_send)";
    private static final String POST_RECEIVE = "post receive (ibv_post_recv)";

    private final NativeContext device;
    private final LibIbverbs library;
    private final ContextOps ops;
    private final long address;
    private final int number;
    private final QueueSizes sizes;
    private final BadRequest badSend = new BadRequest();
    private final BadRequest badReceive = new BadRequest();
    private final RecentBindings bindings;

    /// Creates the struct, too.
    ///
    /// @param domainAddress the address of the struct of the protection domain
    /// @throws VerbException the errno of the device
    public IbvQueuePair(NativeContext device, ProtectionDomain domain, long domainAddress, QueuePairOptions options) {
        super(domain, options);
        this.device = device;
        this.library = device.library();
        this.ops = device.ops();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = arena.allocate(QueuePairLayout.INIT_BYTES, 8);
            SharedReceiveQueue shared = options.sharedReceives();
            QueuePairStructs.writeInit(
                    options,
                    ((IbvCompletionQueue) options.sendCompletions()).address(),
                    ((IbvCompletionQueue) options.receiveCompletions()).address(),
                    shared == null ? 0 : ((IbvSharedReceiveQueue) shared).address(),
                    init);
            this.address = checked(library.createQueuePair(domainAddress, init.address()), domain, options);
            this.sizes = QueuePairStructs.readSizes(init);
        }
        this.bindings = new RecentBindings(sizes.sends());
        this.number = NativeMemory.at(address, QueuePairLayout.BYTES).get(JAVA_INT, QueuePairLayout.NUMBER);
        device.add(address, this);
        device.retiredMemory().opened(this);
    }

    private static long checked(long created, ProtectionDomain domain, QueuePairOptions options) {
        String operation = "create queue pair (ibv_create_qp)";
        String subject = options.type() + " of " + options.sizes() + " on " + domain.context();
        if (created == -LibCLayout.EINVAL && options.sizes().inlineBytes() > 0) {
            // No attribute says how many a device allows.
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    subject + ": the device may allow fewer inline bytes, or none; try QueueSizes.withInline(0)");
        }
        return IbvFailure.lockedAddress(operation, created, subject);
    }

    @Override
    public final int number() {
        return number;
    }

    @Override
    protected final QueueSizes doSizes() {
        return sizes;
    }

    /// At most `max_sge_rd` of the device, if it reports one. Checked here because some drivers fill the first element
    /// only, and report success.
    @Override
    protected final int doReadElements() {
        int allowed = (int) protectionDomain().context().limit(DeviceLimit.MAX_SGE_READ);
        return allowed == 0 ? sizes.sendElements() : Math.min(allowed, sizes.sendElements());
    }

    @Override
    protected int doPost(SendBatch batch, int first, int count) {
        int good = device.offsetRegions()
                .keepAcceptable(POST_SEND, batch, first, count, options().signalAll(), this);
        return postSends(batch, first, good);
    }

    private int postSends(SendBatch batch, int first, int count) {
        long start = batch.segment().address() + batch.at(first);
        int result = ops.postSend(address, start, badSend.address());
        int taken = result == 0 ? count : acceptedSends(result, batch, first, count);
        if (batch.contains(SendOpcode.BIND_WINDOW)) {
            noteBindings(batch, first, taken);
        }
        return taken;
    }

    private int acceptedSends(int result, SendBatch batch, int first, int count) {
        return badSend.isNone() && afterLostDoorbell(result)
                ? count
                : badSend.taken(POST_SEND, result, batch, first, count, this);
    }

    /// Called after a post that put all requests into the queue but could not ring the doorbell.
    ///
    /// @param result what the driver returned
    /// @return whether the post counts as successful; otherwise it throws
    protected boolean afterLostDoorbell(int result) {
        return false;
    }

    /// The request chooses the key of a window of type 2; the next request for the window must find that key in it.
    private void noteBindings(SendBatch batch, int first, int taken) {
        MemorySegment requests = batch.segment();
        for (int i = first; i < first + taken; i++) {
            long at = batch.at(i);
            if (requests.get(JAVA_INT, at + SendRequestLayout.OPCODE) == SendOpcode.BIND_WINDOW.code()
                    && device.find(requests.get(JAVA_LONG, at + SendRequestLayout.WINDOW))
                            instanceof IbvMemoryWindow window) {
                bindings.posted(requests.get(JAVA_LONG, at + SendRequestLayout.WORK_ID), window, window.remoteKey());
                window.remoteKey(requests.get(JAVA_INT, at + SendRequestLayout.WINDOW_KEY));
            }
        }
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        int good = device.offsetRegions().keepAcceptable(POST_RECEIVE, batch, first, count, this);
        long start = batch.segment().address() + batch.at(first);
        int result = ops.postReceive(address, start, badReceive.address());
        return result == 0 ? good : badReceive.taken(POST_RECEIVE, result, batch, first, good, this);
    }

    @Override
    protected final void doBind(
            long workId, MemoryWindow window, MemoryRegion region, long offset, long length, int access, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment binding = arena.allocate(MemoryLayouts.BIND_BYTES, 8);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_WORK_ID, workId);
            binding.set(JAVA_INT, MemoryLayouts.BIND_FLAGS, flags);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_REGION, region.handle());
            binding.set(JAVA_LONG, MemoryLayouts.BIND_ADDRESS, region.address() + offset);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_LENGTH, length);
            binding.set(JAVA_INT, MemoryLayouts.BIND_ACCESS, access);
            // Noted before it is posted: another thread may poll its completion at once.
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
    protected final void doModify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
        IbvFailure.check(
                "modify queue pair (ibv_modify_qp)",
                apply(change),
                this + " from " + from + " to " + to + " with " + change.present());
    }

    /// Changes the queue pair of the device (ibv_modify_qp(3)).
    ///
    /// @return 0 or the errno
    protected final int apply(QueuePairAttributes change) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(QueuePairAttributesLayout.BYTES, 8);
            int mask = QueuePairStructs.writeChange(change, attributes);
            return library.modifyQueuePair(address, attributes.address(), mask);
        }
    }

    @Override
    protected final QueuePairAttributes doQuery(QueuePairAttributes known) {
        ask(known);
        return known;
    }

    /// Whether the driver fills in what ibv_query_qp(3) asks for.
    protected boolean reportsAttributes() {
        return true;
    }

    /// Replaces the attributes in `known` by those that the device reports.
    ///
    /// @return whether it reports any
    private boolean ask(QueuePairAttributes known) {
        if (!reportsAttributes()) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(QueuePairAttributesLayout.BYTES, 8);
            MemorySegment init = arena.allocate(QueuePairLayout.INIT_BYTES, 8);
            int errno =
                    library.queryQueuePair(address, attributes.address(), QueuePairStructs.mask(known), init.address());
            return errno == 0 && QueuePairStructs.readQuery(attributes, known);
        }
    }

    /// The state that the device reports; null if it reports none.
    private @Nullable QueuePairState deviceState() {
        QueuePairAttributes asked = new QueuePairAttributes().state(QueuePairState.ERROR);
        return ask(asked) ? asked.state() : null;
    }

    @Override
    protected final void noticeBinding(long workId) {
        bindings.forget(workId);
    }

    @Override
    protected final void noticeFailure(long workId) {
        bindings.failed(workId);
        noticeState();
    }

    /// Work of this queue pair has failed, or the device has reported an event: asks the device whether the queue pair
    /// is in an error state by now. A queue pair whose device does not report its state is changed to ERROR.
    @Override
    public final void noticeState() {
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
                // If that fails, the device is gone.
                apply(new QueuePairAttributes().state(QueuePairState.ERROR));
                entered(QueuePairState.ERROR);
            } else if (now == QueuePairState.ERROR || now == QueuePairState.SEND_QUEUE_ERROR) {
                entered(now);
                if (now == QueuePairState.ERROR) {
                    afterFailure();
                }
            }
        } finally {
            sendLock().unlock();
        }
    }

    /// The device has changed the queue pair to ERROR by itself. Called under the send lock.
    protected void afterFailure() {}

    @Override
    public final void connected() {
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
    protected final void doAttach(Gid group, int lid) {
        try (Arena arena = Arena.ofConfined()) {
            IbvFailure.check(
                    "attach queue pair to multicast group (ibv_attach_mcast)",
                    library.attachMulticast(address, bytes(group, arena), lid),
                    this + " to " + group);
        }
    }

    @Override
    protected final void doDetach(Gid group, int lid) {
        try (Arena arena = Arena.ofConfined()) {
            IbvFailure.check(
                    "detach queue pair from multicast group (ibv_detach_mcast)",
                    library.detachMulticast(address, bytes(group, arena), lid),
                    this + " from " + group);
        }
    }

    private static long bytes(Gid gid, Arena arena) {
        return arena.allocateFrom(JAVA_BYTE, gid.bytes()).address();
    }

    @Override
    protected void doDestroy() {
        device.remove(address);
        IbvFailure.check("destroy queue pair (ibv_destroy_qp)", library.destroyQueuePair(address), toString());
        device.retiredMemory().destroyed(this);
        badSend.close();
        badReceive.close();
    }
}
