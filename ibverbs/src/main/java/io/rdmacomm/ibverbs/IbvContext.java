package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.AbsentLibraryException;
import io.rdmacomm.ibverbs.ffm.ContextLayout;
import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.ExtendedAttributesLayout;
import io.rdmacomm.ibverbs.ffm.ExtendedOps;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.PortAttributesLayout;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionManagerProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// An open device (`struct ibv_context`): the library, the driver's function pointers, and the address of the
/// struct.
final class IbvContext extends Context implements ConnectionManagerProvider {
    private static final ValueLayout.OfShort BIG_ENDIAN_SHORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    private final NativeLibraries libraries;
    private final LibIbverbs library;
    private final ContextOps ops;
    private final ExtendedOps extended;
    private final long address;
    private final Set<Capability> capabilities;
    private final int readElements;
    private final boolean forgetsReceives;
    private final @Nullable SiwPlaceholder placeholder;
    private final LeavingNumbers leavingNumbers = new LeavingNumbers();
    private final EventSource eventSource;
    private final NativeObjects objects = new NativeObjects();
    private final AsyncEvents asyncEvents;

    private IbvContext(IbvDevice device, long address) {
        super(device);
        this.libraries = device.libraries();
        this.library = libraries.verbs();
        this.address = address;
        this.extended = new ExtendedOps(address);
        DeviceAttributes attributes = doQueryDevice();
        this.ops = new ContextOps(address, IbvCapabilities.postsWithoutSystemCall(attributes));
        this.capabilities = IbvCapabilities.of(device.transport(), attributes);
        this.readElements = (int) attributes.limit(DeviceLimit.MAX_SGE_READ);
        this.forgetsReceives = IbvCapabilities.isRxe(attributes);
        this.placeholder = IbvCapabilities.isSiw(attributes) ? new SiwPlaceholder(library, address) : null;
        int file = NativeMemory.at(address, ContextLayout.BYTES).get(JAVA_INT, ContextLayout.ASYNC_FILE);
        this.eventSource = new EventSource(file, device.name());
        this.asyncEvents = new AsyncEvents(library, address, objects, eventSource);
    }

    static IbvContext open(IbvDevice device) {
        LibIbverbs library = device.libraries().verbs();
        long address = IbvFailure.address(
                "open device (ibv_open_device)", DeviceList.open(library, device.name()), device.toString());
        boolean success = false;
        try {
            IbvContext context = new IbvContext(device, address);
            success = true;
            return context;
        } finally {
            if (!success) {
                library.closeDevice(address);
            }
        }
    }

    LibIbverbs library() {
        return library;
    }

    ContextOps ops() {
        return ops;
    }

    /// How many elements a READ may have; 0 if the device does not say.
    int readElements() {
        return readElements;
    }

    /// To be called before a completion queue or a shared receive queue is created; a queue pair needs one.
    void beforeQueue() {
        if (placeholder != null) {
            placeholder.occupy(toString());
        }
    }

    /// Whether the device is one that leaves requests in the queues of failed queue pairs.
    boolean leavesRequests() {
        return placeholder != null;
    }

    /// Whether the device looks after the receives of a failed queue pair only when that is changed to ERROR again:
    /// librxe does no more than put them into memory.
    boolean forgetsReceives() {
        return forgetsReceives;
    }

    LeavingNumbers leavingNumbers() {
        return leavingNumbers;
    }

    NativeObjects objects() {
        return objects;
    }

    @Override
    public boolean supports(Capability capability) {
        return capabilities.contains(capability)
                || (capability == Capability.CONNECTION_MANAGER
                        && whyNoConnectionManager().isEmpty());
    }

    @Override
    public String whyNoConnectionManager() {
        TransportType transport = device().transport();
        if (transport != TransportType.INFINIBAND && transport != TransportType.IWARP) {
            return "no connections on a device of type " + transport;
        }
        try {
            libraries.connections();
            return "";
        } catch (AbsentLibraryException e) {
            return e.reason();
        }
    }

    @Override
    public ConnectionManager openConnectionManager() {
        try {
            return adopt(new IbvConnectionManager(this, libraries.connections()));
        } catch (AbsentLibraryException e) {
            throw new IllegalStateException("librdmacm was there before: " + e.reason(), e);
        }
    }

    @Override
    protected DeviceAttributes doQueryDevice() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(ExtendedAttributesLayout.BYTES, 8);
            int errno = extended.queryDevice(struct.address());
            boolean legacy = errno == LibCLayout.EOPNOTSUPP || errno == LibCLayout.ENOSYS;
            if (legacy) {
                errno = library.queryDevice(address, struct.address());
            }
            IbvFailure.check("query device (ibv_query_device" + (legacy ? ")" : "_ex)"), errno, toString());
            int vectors = NativeMemory.at(address, ContextLayout.BYTES).get(JAVA_INT, ContextLayout.COMPLETION_VECTORS);
            return IbvAttributes.device(struct, vectors, legacy ? Map.of() : IbvExtendedAttributes.limits(struct));
        }
    }

    @Override
    protected PortAttributes doQueryPort(int number) {
        String subject = this + " has no port " + number;
        IbvFailure.checkByte("query port (ibv_query_port)", number, subject);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(PortAttributesLayout.ROOM, 8);
            int errno = extended.queryPort(number, struct.address());
            if (errno == LibCLayout.EOPNOTSUPP) {
                errno = library.queryPort(address, number, struct.address());
            }
            IbvFailure.check("query port (ibv_query_port)", errno, subject);
            return IbvAttributes.port(struct);
        }
    }

    @Override
    protected Gid doQueryGid(int port, int index) {
        String operation = "query GID (ibv_query_gid)";
        String subject = this + " has no entry " + index + " of port " + port;
        IbvFailure.checkByte(operation, port, subject);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment gid = arena.allocate(PortAttributesLayout.GID_BYTES, 8);
            IbvFailure.check(operation, library.queryGid(address, port, index, gid.address()), subject);
            return IbvAttributes.gid(gid, 0);
        }
    }

    @Override
    protected List<GidEntry> doQueryGidTable(int port) {
        String operation = "query GID table (_ibv_query_gid_table)";
        int room = doQueryPort(port).gidTableLength() * doQueryDevice().ports();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate(Math.max(1L, room) * PortAttributesLayout.GID_ENTRY_BYTES, 8);
            long count = library.queryGidTable(address, entries.address(), room);
            if (count == -LibCLayout.EOPNOTSUPP) {
                return super.doQueryGidTable(port);
            }
            IbvFailure.check(operation, (int) -Math.min(0, count), this + " has no table for port " + port);
            return IbvAttributes.gids(entries, (int) count, port);
        }
    }

    @Override
    protected int doQueryPartitionKey(int port, int index) {
        String operation = "query partition key (ibv_query_pkey)";
        String subject = this + " has no entry " + index + " of port " + port;
        IbvFailure.checkByte(operation, port, subject);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(Short.BYTES, 8);
            IbvFailure.check(operation, library.queryPartitionKey(address, port, index, key.address()), subject);
            return Short.toUnsignedInt(key.get(BIG_ENDIAN_SHORT, 0));
        }
    }

    @Override
    protected ProtectionDomain doAllocateProtectionDomain() {
        return new IbvProtectionDomain(
                this,
                IbvFailure.address(
                        "allocate protection domain (ibv_alloc_pd)", library.allocateDomain(address), toString()));
    }

    @Override
    protected CompletionChannel doCreateCompletionChannel() {
        return IbvCompletionChannel.create(this, address);
    }

    @Override
    protected CompletionQueue doCreateCompletionQueue(CompletionQueueOptions options) {
        beforeQueue();
        return IbvCompletionQueue.create(this, address, options);
    }

    @Override
    protected @Nullable AsyncEvent doAwaitAsyncEvent(long timeoutNanos) throws InterruptedException {
        return asyncEvents.await(timeoutNanos, toString());
    }

    @Override
    protected void onClosing() {
        eventSource.wake();
    }

    @Override
    protected void doCloseDevice() {
        eventSource.close();
        try {
            if (placeholder != null) {
                placeholder.release(toString());
            }
        } finally {
            IbvFailure.check("close device (ibv_close_device)", library.closeDevice(address), toString());
        }
    }
}
