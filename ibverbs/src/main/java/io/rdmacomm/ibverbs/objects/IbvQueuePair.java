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
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A queue pair (`struct ibv_qp`). Requests are already in the C layout: posting passes their address to C.
///
/// The caller has checked states, attributes, sizes and queue depths, because drivers differ in their checks: rxe
/// keeps a request that it rejects, and executes it later.
public class IbvQueuePair implements QueuePairDriver, ConnectedQueuePair {
    private static final String POST_SEND = "post send (ibv_post_send)";
    private static final String POST_RECEIVE = "post receive (ibv_post_recv)";

    private final NativeContext device;
    private final LibIbverbs library;
    private final ContextOps ops;
    private final QueuePairOwner owner;
    private final boolean signalAll;
    private final long address;
    private final int number;
    private final QueueSizes sizes;
    private final BadRequest badSend = new BadRequest();
    private final BadRequest badReceive = new BadRequest();
    private final RecentBindings bindings;

    /// Creates the struct (ibv_create_qp(3)).
    ///
    /// @param domain the address of the struct of the protection domain
    /// @throws VerbException the errno of the device
    public IbvQueuePair(NativeContext device, long domain, QueuePairRequest request) {
        this.device = device;
        this.library = device.library();
        this.ops = device.ops();
        this.owner = request.owner();
        this.signalAll = request.signalAll();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = arena.allocate(QueuePairLayout.INIT_BYTES, 8);
            QueuePairStructs.writeInit(request, init);
            this.address = checked(library.createQueuePair(domain, init.address()), request, device);
            this.sizes = QueuePairStructs.readSizes(init);
        }
        this.bindings = new RecentBindings(sizes.sends());
        this.number = NativeMemory.at(address, QueuePairLayout.BYTES).get(JAVA_INT, QueuePairLayout.NUMBER);
        device.queuePairs().add(address, this);
        device.retiredMemory().opened(this);
    }

    private static long checked(long created, QueuePairRequest request, NativeContext device) {
        String operation = "create queue pair (ibv_create_qp)";
        String subject = request.type() + " of " + request.sizes() + " on " + device;
        if (created == -LibCLayout.EINVAL && request.sizes().inlineBytes() > 0) {
            // No attribute tells how many a device allows.
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
    public final QueueSizes sizes() {
        return sizes;
    }

    /// At most `max_sge_rd` of the device, if it reports one. Checked here because some drivers fill only the first
    /// element and report success.
    @Override
    public final int readElements() {
        int allowed = (int) device.attributes().limit(DeviceLimit.MAX_SGE_READ);
        return allowed == 0 ? sizes.sendElements() : Math.min(allowed, sizes.sendElements());
    }

    @Override
    public int postSends(RequestChain requests, int first, int count) {
        int good = device.offsetRegions().keepSends(POST_SEND, requests, first, count, signalAll, this);
        return postAcceptable(requests, first, good);
    }

    private int postAcceptable(RequestChain requests, int first, int count) {
        long start = requests.segment().address() + requests.at(first);
        int result = ops.postSend(address, start, badSend.address());
        int taken = result == 0 ? count : acceptedSends(result, requests, first, count);
        if (requests.contains(SendOpcode.BIND_WINDOW.code())) {
            noteBindings(requests, first, taken);
        }
        return taken;
    }

    private int acceptedSends(int result, RequestChain requests, int first, int count) {
        return badSend.isNone() && afterLostDoorbell(result)
                ? count
                : badSend.taken(POST_SEND, result, requests, first, count, this);
    }

    /// Called after a post that put all requests into the queue but could not ring the doorbell.
    ///
    /// @param result what the driver returned
    /// @return whether the post counts as successful; otherwise it throws
    protected boolean afterLostDoorbell(int result) {
        return false;
    }

    /// A request chooses the new key of a type 2 window; the next request for the window must find that key in it.
    private void noteBindings(RequestChain requests, int first, int taken) {
        MemorySegment segment = requests.segment();
        for (int i = first; i < first + taken; i++) {
            long at = requests.at(i);
            if (segment.get(JAVA_INT, at + SendRequestLayout.OPCODE) != SendOpcode.BIND_WINDOW.code()) {
                continue;
            }
            IbvMemoryWindow window = device.windows().find(segment.get(JAVA_LONG, at + SendRequestLayout.WINDOW));
            if (window != null) {
                bindings.posted(segment.get(JAVA_LONG, at + SendRequestLayout.WORK_ID), window, window.remoteKey());
                window.remoteKey(segment.get(JAVA_INT, at + SendRequestLayout.WINDOW_KEY));
            }
        }
    }

    @Override
    public int postReceives(RequestChain receives, int first, int count) {
        int good = device.offsetRegions().keepReceives(POST_RECEIVE, receives, first, count, this);
        long start = receives.segment().address() + receives.at(first);
        int result = ops.postReceive(address, start, badReceive.address());
        return result == 0 ? good : badReceive.taken(POST_RECEIVE, result, receives, first, good, this);
    }

    @Override
    public final void bind(
            long workId,
            MemoryWindowDriver window,
            MemoryRegionDriver region,
            long start,
            long length,
            int access,
            int flags) {
        IbvMemoryWindow bound = device.windows().find(window.handle());
        if (bound == null) {
            throw new IllegalStateException(window + " is closed");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment binding = arena.allocate(MemoryLayouts.BIND_BYTES, 8);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_WORK_ID, workId);
            binding.set(JAVA_INT, MemoryLayouts.BIND_FLAGS, flags);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_REGION, region.handle());
            binding.set(JAVA_LONG, MemoryLayouts.BIND_ADDRESS, start);
            binding.set(JAVA_LONG, MemoryLayouts.BIND_LENGTH, length);
            binding.set(JAVA_INT, MemoryLayouts.BIND_ACCESS, access);
            // Noted before it is posted: another thread may poll its completion at once.
            bindings.posted(workId, bound, bound.remoteKey());
            int errno = ops.bindWindow(address, bound.handle(), binding.address());
            if (errno != 0) {
                bindings.forget(workId);
                throw IbvFailure.of("bind memory window (ibv_bind_mw)", errno, window + " to " + region);
            }
        }
        bound.bound(length == 0 ? 0 : region.handle());
    }

    @Override
    public final void modify(
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
    public final QueuePairAttributes query(QueuePairAttributes known) {
        ask(known);
        return known;
    }

    /// Whether the driver fills in the attributes that ibv_query_qp(3) asks for.
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
    public final void bindingPolled(long workId) {
        bindings.forget(workId);
    }

    @Override
    public final void failurePolled(long workId) {
        bindings.failed(workId);
        noticeState();
    }

    /// Work of this queue pair has failed, or the device has reported an event: asks the device whether the queue
    /// pair is now in an error state. If the device does not report states, changes the queue pair to ERROR.
    @Override
    public final void noticeState() {
        if (owner.state() == QueuePairState.ERROR) {
            return;
        }
        owner.lockSends();
        try {
            if (!owner.isOpen() || owner.state().code() < QueuePairState.READY_TO_RECEIVE.code()) {
                return;
            }
            QueuePairState now = deviceState();
            if (now == null) {
                // If that fails, the device is gone.
                apply(new QueuePairAttributes().state(QueuePairState.ERROR));
                owner.entered(QueuePairState.ERROR);
            } else if (now == QueuePairState.ERROR || now == QueuePairState.SEND_QUEUE_ERROR) {
                owner.entered(now);
                if (now == QueuePairState.ERROR) {
                    afterFailure();
                }
            }
        } finally {
            owner.unlockSends();
        }
    }

    /// The device has changed the queue pair to ERROR by itself. Called under the send lock.
    protected void afterFailure() {}

    @Override
    public final void connected() {
        owner.lockSends();
        try {
            if (owner.isOpen() && owner.state() == QueuePairState.INIT) {
                owner.entered(QueuePairState.READY_TO_SEND);
            }
        } finally {
            owner.unlockSends();
        }
    }

    @Override
    public final void attach(Gid group, int lid) {
        try (Arena arena = Arena.ofConfined()) {
            IbvFailure.check(
                    "attach queue pair to multicast group (ibv_attach_mcast)",
                    library.attachMulticast(address, bytes(group, arena), lid),
                    this + " to " + group);
        }
    }

    @Override
    public final void detach(Gid group, int lid) {
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
    public void close() {
        device.queuePairs().remove(address, this);
        IbvFailure.check("destroy queue pair (ibv_destroy_qp)", library.destroyQueuePair(address), toString());
        device.retiredMemory().destroyed(this);
        badSend.close();
        badReceive.close();
    }

    @Override
    public final String toString() {
        return owner.toString();
    }
}
