package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.SharedReceiveLayouts;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A shared receive queue (`struct ibv_srq`).
final class IbvSharedReceiveQueue extends SharedReceiveQueue {
    private static final String POST = "post receive (ibv_post_srq_recv)";

    private final NativeContext device;
    private final LibIbverbs library;
    private final ContextOps ops;
    private final long address;
    private final BadRequest bad = new BadRequest();
    /// The granted sizes and the limit that was armed last, for drivers without ibv_query_srq(3).
    private volatile SharedReceiveQueueOptions known;

    private IbvSharedReceiveQueue(
            NativeContext device, ProtectionDomain domain, long address, SharedReceiveQueueOptions options) {
        super(domain, options);
        this.device = device;
        this.library = device.library();
        this.ops = device.ops();
        this.address = address;
        this.known = options;
        device.add(address, this);
        device.retiredMemory().opened(this);
    }

    static IbvSharedReceiveQueue create(
            NativeContext device, ProtectionDomain domain, long domainAddress, SharedReceiveQueueOptions options) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = arena.allocate(SharedReceiveLayouts.INIT_BYTES, 8);
            long attributes = SharedReceiveLayouts.INIT_ATTRIBUTES;
            init.set(JAVA_INT, attributes + SharedReceiveLayouts.RECEIVES, options.receives());
            init.set(JAVA_INT, attributes + SharedReceiveLayouts.ELEMENTS, options.elements());
            long address = IbvFailure.lockedAddress(
                    "create shared receive queue (ibv_create_srq)",
                    device.library().createSharedReceiveQueue(domainAddress, init.address()),
                    options + " on " + domain.context());
            IbvSharedReceiveQueue queue = new IbvSharedReceiveQueue(device, domain, address, options);
            queue.known = new SharedReceiveQueueOptions(
                    init.get(JAVA_INT, attributes + SharedReceiveLayouts.RECEIVES),
                    init.get(JAVA_INT, attributes + SharedReceiveLayouts.ELEMENTS),
                    0);
            // ibv_create_srq(3) ignores the limit.
            if (options.limit() > 0) {
                queue.armOrClose(options.limit());
            }
            return queue;
        }
    }

    private void armOrClose(int limit) {
        boolean armed = false;
        try {
            doArmLimit(limit);
            armed = true;
        } finally {
            if (!armed) {
                doDestroy();
            }
        }
    }

    /// The address of the struct.
    long address() {
        return address;
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        int good = device.offsetRegions().keepAcceptable(POST, batch, first, count, this);
        long start = batch.segment().address() + batch.at(first);
        int result = ops.postSharedReceive(address, start, bad.address());
        return result == 0 ? good : bad.taken(POST, result, batch, first, good, this);
    }

    @Override
    protected void doArmLimit(int limit) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(SharedReceiveLayouts.ATTRIBUTES_BYTES, 8);
            attributes.set(JAVA_INT, SharedReceiveLayouts.LIMIT, limit);
            IbvFailure.check(
                    "modify shared receive queue (ibv_modify_srq)",
                    library.modifySharedReceiveQueue(address, attributes.address(), SharedReceiveLayouts.MASK_LIMIT),
                    "limit " + limit + " of " + this);
        }
        known = new SharedReceiveQueueOptions(known.receives(), known.elements(), limit);
    }

    /// The number of posted receives is checked here, because rxe loses its queue if it is too small for them
    /// (`rxe_srq_from_attr`), and the kernel fails when it uses it next.
    @Override
    protected void doResize(int receives) {
        long posted = mostPosted();
        if (posted > receives) {
            throw tooManyPosted(receives, posted);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(SharedReceiveLayouts.ATTRIBUTES_BYTES, 8);
            attributes.set(JAVA_INT, SharedReceiveLayouts.RECEIVES, receives);
            IbvFailure.check(
                    "modify shared receive queue (ibv_modify_srq)",
                    library.modifySharedReceiveQueue(address, attributes.address(), SharedReceiveLayouts.MASK_RECEIVES),
                    Capability.RESIZE_SHARED_RECEIVE_QUEUE,
                    protectionDomain().context(),
                    receives + " receives in " + this);
        }
        known = new SharedReceiveQueueOptions(receives, known.elements(), known.limit());
    }

    @Override
    protected SharedReceiveQueueOptions doQuery() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(SharedReceiveLayouts.ATTRIBUTES_BYTES, 8);
            int errno = library.querySharedReceiveQueue(address, attributes.address());
            if (errno == LibCLayout.EOPNOTSUPP) {
                return known;
            }
            IbvFailure.check("query shared receive queue (ibv_query_srq)", errno, toString());
            return new SharedReceiveQueueOptions(
                    attributes.get(JAVA_INT, SharedReceiveLayouts.RECEIVES),
                    attributes.get(JAVA_INT, SharedReceiveLayouts.ELEMENTS),
                    attributes.get(JAVA_INT, SharedReceiveLayouts.LIMIT));
        }
    }

    @Override
    protected void doDestroy() {
        device.remove(address);
        IbvFailure.check(
                "destroy shared receive queue (ibv_destroy_srq)",
                library.destroySharedReceiveQueue(address),
                toString());
        device.retiredMemory().destroyed(this);
        bad.close();
    }
}
