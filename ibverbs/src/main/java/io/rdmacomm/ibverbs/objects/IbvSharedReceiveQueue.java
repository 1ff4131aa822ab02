package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.SharedReceiveLayouts;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A shared receive queue (`struct ibv_srq`).
final class IbvSharedReceiveQueue implements SharedReceiveQueueDriver {
    private static final String POST = "post receive (ibv_post_srq_recv)";

    private final NativeContext device;
    private final LibIbverbs library;
    private final ContextOps ops;
    private final long address;
    private final BadRequest bad = new BadRequest();
    /// The granted sizes and the last armed limit, for drivers without ibv_query_srq(3).
    private volatile SharedReceiveQueueOptions known;

    private IbvSharedReceiveQueue(NativeContext device, long address, SharedReceiveQueueOptions granted) {
        this.device = device;
        this.library = device.library();
        this.ops = device.ops();
        this.address = address;
        this.known = granted;
        device.retiredMemory().opened(this);
    }

    /// Creates the struct (ibv_create_srq(3)).
    ///
    /// @param domain the address of the struct of the protection domain
    static IbvSharedReceiveQueue create(NativeContext device, long domain, SharedReceiveQueueOptions options) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = arena.allocate(SharedReceiveLayouts.INIT_BYTES, 8);
            long attributes = SharedReceiveLayouts.INIT_ATTRIBUTES;
            init.set(JAVA_INT, attributes + SharedReceiveLayouts.RECEIVES, options.receives());
            init.set(JAVA_INT, attributes + SharedReceiveLayouts.ELEMENTS, options.elements());
            long address = IbvFailure.lockedAddress(
                    "create shared receive queue (ibv_create_srq)",
                    device.library().createSharedReceiveQueue(domain, init.address()),
                    options + " on " + device);
            SharedReceiveQueueOptions granted = SharedReceiveQueueOptions.ofDepth(
                            init.get(JAVA_INT, attributes + SharedReceiveLayouts.RECEIVES))
                    .withElements(init.get(JAVA_INT, attributes + SharedReceiveLayouts.ELEMENTS));
            IbvSharedReceiveQueue queue = new IbvSharedReceiveQueue(device, address, granted);
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
            armLimit(limit);
            armed = true;
        } finally {
            if (!armed) {
                close();
            }
        }
    }

    @Override
    public long handle() {
        return address;
    }

    @Override
    public int post(RequestChain receives, int first, int count) {
        int good = device.offsetRegions().keepReceives(POST, receives, first, count, this);
        long start = receives.segment().address() + receives.at(first);
        int result = ops.postSharedReceive(address, start, bad.address());
        return result == 0 ? good : bad.taken(POST, result, receives, first, good, this);
    }

    @Override
    public void armLimit(int limit) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(SharedReceiveLayouts.ATTRIBUTES_BYTES, 8);
            attributes.set(JAVA_INT, SharedReceiveLayouts.LIMIT, limit);
            IbvFailure.check(
                    "modify shared receive queue (ibv_modify_srq)",
                    library.modifySharedReceiveQueue(address, attributes.address(), SharedReceiveLayouts.MASK_LIMIT),
                    "limit " + limit + " of " + this);
        }
        known = known.withLimit(limit);
    }

    /// Checks the number of posted receives here, because rxe loses its queue if it is too small for them
    /// (`rxe_srq_from_attr`), and the kernel crashes at its next use.
    @Override
    public long resize(int receives, long mostPosted) {
        if (mostPosted > receives) {
            return mostPosted;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(SharedReceiveLayouts.ATTRIBUTES_BYTES, 8);
            attributes.set(JAVA_INT, SharedReceiveLayouts.RECEIVES, receives);
            IbvFailure.check(
                    "modify shared receive queue (ibv_modify_srq)",
                    library.modifySharedReceiveQueue(address, attributes.address(), SharedReceiveLayouts.MASK_RECEIVES),
                    Capability.RESIZE_SHARED_RECEIVE_QUEUE,
                    device.toString(),
                    receives + " receives in " + this);
        }
        known = known.withDepth(receives);
        return 0;
    }

    @Override
    public SharedReceiveQueueOptions query() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(SharedReceiveLayouts.ATTRIBUTES_BYTES, 8);
            int errno = library.querySharedReceiveQueue(address, attributes.address());
            if (errno == LibCLayout.EOPNOTSUPP) {
                return known;
            }
            IbvFailure.check("query shared receive queue (ibv_query_srq)", errno, toString());
            return SharedReceiveQueueOptions.ofDepth(attributes.get(JAVA_INT, SharedReceiveLayouts.RECEIVES))
                    .withElements(attributes.get(JAVA_INT, SharedReceiveLayouts.ELEMENTS))
                    .withLimit(attributes.get(JAVA_INT, SharedReceiveLayouts.LIMIT));
        }
    }

    @Override
    public void close() {
        IbvFailure.check(
                "destroy shared receive queue (ibv_destroy_srq)",
                library.destroySharedReceiveQueue(address),
                toString());
        device.retiredMemory().destroyed(this);
        bad.close();
    }

    @Override
    public String toString() {
        return "shared receive queue on " + device;
    }
}
