package io.rdmacomm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/// Groups memory and queue pairs (`struct ibv_pd`, ibv_alloc_pd(3)): only queue pairs of the same protection
/// domain, and their peers, can use a memory region. Thread-safe. Not for the data path.
public abstract class ProtectionDomain extends Resource {
    private static final String REGISTER = "register memory (ibv_reg_mr)";
    private static final String REGISTER_DMA_BUFFER = "register DMA buffer (ibv_reg_dmabuf_mr)";
    private static final Set<AccessFlag> OF_DMA_BUFFERS = Set.of(
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC,
            AccessFlag.RELAXED_ORDERING);
    private static final long PAGE = 4096;
    private static final String CREATE_QUEUE_PAIR = "create queue pair (ibv_create_qp)";

    private final Context context;

    /// For providers.
    protected ProtectionDomain(Context context) {
        super(context);
        this.context = context;
    }

    /// The open device that it belongs to.
    public final Context context() {
        return context;
    }

    /// Allocates zeroed, page-aligned memory and registers it (ibv_reg_mr(3)). The region owns the memory: closing
    /// the region frees it. On the software device, a peer on the same host accesses such memory without involving
    /// a thread of this process.
    ///
    /// @param bytes the length in bytes, at least 1
    /// @param access the rights to use it, in addition to local reads
    /// @throws UnsupportedVerbException for ON_DEMAND, if the device does not support it
    /// @throws VerbException EINVAL for remote write or atomic without local write, ENOMEM or ENOSPC if there is
    ///         not enough memory; the message names the limit to raise
    public final MemoryRegion allocate(long bytes, Set<AccessFlag> access) {
        return allocate(bytes, access, PageSize.NORMAL);
    }

    /// Allocates zeroed memory in pages of a kind and registers it; see [#allocate(long, Set)]. Huge pages
    /// are taken whole: the region has the length asked for, the rest of its last page is unused.
    ///
    /// @param bytes the length in bytes, at least 1
    /// @param access the rights to use it, in addition to local reads
    /// @throws UnsupportedVerbException if the device allocates no huge pages; it can still register those
    ///        that the
    ///         program has
    /// @throws VerbException as for [#allocate(long, Set)]; ENOMEM, too, if the system has too few free huge
    ///        pages;
    ///         the message says how to reserve more
    public final MemoryRegion allocate(long bytes, Set<AccessFlag> access, PageSize pages) {
        checkOpen();
        Checks.range("length of a memory region", bytes, 1, Long.MAX_VALUE);
        if (pages == PageSize.HUGE) {
            require(
                    Capability.HUGE_PAGES,
                    "allocate memory in huge pages",
                    "use PageSize.NORMAL; the memory of a software device is files in /dev/shm, whose pages are chosen when"
                            + " that is mounted (`huge` in tmpfs(5))");
        }
        return adopt(doAllocate(bytes, checkedAccess(access), pages));
    }

    /// Registers the caller's memory (ibv_reg_mr(3)). The region keeps the segment reachable. The caller frees it
    /// after closing the region, and not before the completions of all requests that name it were polled, or their
    /// queue pairs are closed: some adapters deliver short messages within the completion, and polling copies
    /// them to memory.
    ///
    /// @param segment native memory of at least 1 byte, not of a confined arena
    /// @param access the rights to use it, in addition to local reads
    /// @throws IllegalArgumentException if the segment is on the heap, empty or confined to one thread
    /// @throws UnsupportedVerbException for ON_DEMAND, if the device does not support it
    /// @throws VerbException EINVAL for remote write or atomic without local write, ENOMEM if the device cannot
    ///         register it; the message names the limit to raise
    public final MemoryRegion register(MemorySegment segment, Set<AccessFlag> access) {
        checkOpen();
        if (!segment.isNative()) {
            throw new IllegalArgumentException("memory on the heap cannot be registered; allocate it from an Arena");
        }
        if (segment.byteSize() == 0) {
            throw new IllegalArgumentException("an empty segment cannot be registered");
        }
        if (!segment.isAccessibleBy(new Thread(() -> {}))) {
            throw new IllegalArgumentException(
                    "a segment of a confined arena cannot be registered: the device accesses it from other threads; use Arena.ofShared()");
        }
        if (segment.isReadOnly() && access.contains(AccessFlag.LOCAL_WRITE)) {
            throw new IllegalArgumentException("a read-only segment cannot be registered with LOCAL_WRITE");
        }
        return adopt(doRegister(segment, checkedAccess(access)));
    }

    /// Registers a part of a DMA buffer (ibv_reg_dmabuf_mr(3)): memory of another device, for example of a
    /// graphics processor, that a file descriptor stands for. The adapter transfers from and to it without a
    /// copy in this process. The region has no [MemoryRegion#segment()]. It keeps the buffer, so the file can
    /// be closed. Messages can arrive in it if the device has [Capability#ARRIVAL_AT_OFFSETS].
    ///
    /// @param file the number of the file descriptor, open in this process
    /// @param offset where the memory begins in the buffer
    /// @param length in bytes, at least 1
    /// @param address the address of its first byte in scatter/gather elements and for peers; any one with
    ///        the same position in a page as `offset`
    /// @param access the rights to use it, in addition to local reads: LOCAL_WRITE, REMOTE_WRITE,
    ///        REMOTE_READ, REMOTE_ATOMIC, RELAXED_ORDERING
    /// @throws UnsupportedVerbException if the library, the driver or the device does not support them
    /// @throws VerbException EINVAL for other rights, remote write or atomic without local write, an address
    ///        that does
    ///         not fit the offset, or a range beyond the buffer; EBADF if the file is not open
    public final MemoryRegion registerDmaBuffer(
            int file, long offset, long length, long address, Set<AccessFlag> access) {
        checkOpen();
        Checks.range("file descriptor of a DMA buffer", file, 0, Integer.MAX_VALUE);
        Checks.range("offset in a DMA buffer", offset, 0, Long.MAX_VALUE);
        Checks.range("length of a memory region", length, 1, Long.MAX_VALUE - offset);
        require(
                Capability.DMA_BUFFER,
                REGISTER_DMA_BUFFER,
                "it cannot reach memory of other devices; have them copy the data to memory of this process");
        if (!OF_DMA_BUFFERS.containsAll(access)) {
            throw new VerbException(
                    REGISTER_DMA_BUFFER, Errno.EINVAL, "rights " + access + "; possible are " + OF_DMA_BUFFERS);
        }
        if ((address - offset) % PAGE != 0) {
            throw new VerbException(
                    REGISTER_DMA_BUFFER,
                    Errno.EINVAL,
                    "address 0x" + Long.toHexString(address) + " and offset 0x" + Long.toHexString(offset)
                            + " have different positions in a page");
        }
        return adopt(doRegisterDmaBuffer(file, offset, length, address, checkedAccess(access)));
    }

    /// Allocates an unbound memory window (ibv_alloc_mw(3)).
    ///
    /// @throws UnsupportedVerbException if the device does not support windows of that type
    public final MemoryWindow allocateWindow(MemoryWindowType type) {
        checkOpen();
        require(
                type == MemoryWindowType.TYPE_1 ? Capability.MEMORY_WINDOW_TYPE_1 : Capability.MEMORY_WINDOW_TYPE_2,
                "allocate memory window (ibv_alloc_mw)");
        return adopt(doAllocateWindow(type));
    }

    /// Creates a shared receive queue (ibv_create_srq(3)).
    ///
    /// @throws UnsupportedVerbException if the device does not support them
    /// @throws VerbException EINVAL if the size exceeds a limit of the device
    public final SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueOptions options) {
        checkOpen();
        require(Capability.SHARED_RECEIVE_QUEUE, "create shared receive queue (ibv_create_srq)");
        return adopt(doCreateSharedReceiveQueue(options));
    }

    /// Creates an address handle for datagrams (ibv_create_ah(3)).
    ///
    /// @throws UnsupportedVerbException if the device does not support datagrams
    public final AddressHandle createAddressHandle(AddressVector vector) {
        checkOpen();
        require(Capability.UNRELIABLE_DATAGRAM, "create address handle (ibv_create_ah)");
        return adopt(doCreateAddressHandle(vector));
    }

    /// Creates an address handle for datagrams to the port of `remote`, through a local port and GID.
    ///
    /// @throws UnsupportedVerbException if the device does not support datagrams
    public final AddressHandle createAddressHandle(QueuePairInfo remote, PathOptions path) {
        checkOpen();
        int index =
                path.gidIndex() == PathOptions.AUTOMATIC_GID ? context.preferredGidIndex(path.port()) : path.gidIndex();
        return createAddressHandle(path.to(remote.gid(), remote.lid(), index));
    }

    /// Creates an address handle for the answer to a datagram (ibv_create_ah_from_wc(3)); see [Context#pathBack].
    ///
    /// @param port the local port that received it, counted from 1
    /// @param index the position of its completion
    /// @param buffer the buffer of its receive, from the first byte on
    /// @throws UnsupportedVerbException if the device does not support datagrams
    /// @throws VerbException EINVAL if it cannot be answered; the message says why
    public final AddressHandle createAddressHandle(int port, Completions completions, int index, MemorySegment buffer) {
        return createAddressHandle(context.pathBack(port, completions, index, buffer));
    }

    /// Creates a queue pair in state RESET (ibv_create_qp(3)).
    ///
    /// @throws UnsupportedVerbException if the device does not support queue pairs of that type
    /// @throws VerbException EINVAL if a size exceeds a limit of the device or an object belongs to another
    ///         context, ENOMEM if the device has no more queue pairs
    public final QueuePair createQueuePair(QueuePairOptions options) {
        checkOpen();
        requireType(options.type());
        SharedReceiveQueue shared = options.sharedReceives();
        if (!options.sendCompletions().context().equals(context)
                || !options.receiveCompletions().context().equals(context)
                || (shared != null && !shared.protectionDomain().context().equals(context))) {
            throw new VerbException(
                    CREATE_QUEUE_PAIR,
                    Errno.EINVAL,
                    "its completion queue or shared receive queue belongs to another context than " + context);
        }
        checkSizes(options.sizes());
        // Before the device is asked for anything that would have to be given back.
        options.sendCompletions().checkOpen();
        options.receiveCompletions().checkOpen();
        if (shared != null) {
            shared.checkOpen();
        }
        QueuePair queuePair = doCreateQueuePair(options);
        queuePair.begin();
        return adopt(queuePair);
    }

    private void checkSizes(QueueSizes sizes) {
        limit("send queue depth", sizes.sends(), DeviceLimit.MAX_QUEUE_PAIR_DEPTH);
        limit("receive queue depth", sizes.receives(), DeviceLimit.MAX_QUEUE_PAIR_DEPTH);
        limit("scatter/gather elements of a send", sizes.sendElements(), DeviceLimit.MAX_SGE);
        limit("scatter/gather elements of a receive", sizes.receiveElements(), DeviceLimit.MAX_SGE);
    }

    private void limit(String what, int asked, DeviceLimit limit) {
        long max = context.limit(limit);
        if (asked > max) {
            throw new VerbException(
                    CREATE_QUEUE_PAIR,
                    Errno.EINVAL,
                    what + " " + asked + " exceeds the limit of " + max + " (" + limit.cName() + ") on " + context);
        }
    }

    private void requireType(QueuePairType type) {
        switch (type) {
            case RELIABLE_CONNECTED -> require(Capability.RELIABLE_CONNECTED, CREATE_QUEUE_PAIR);
            case UNRELIABLE_CONNECTED ->
                require(
                        Capability.UNRELIABLE_CONNECTED,
                        CREATE_QUEUE_PAIR,
                        "use RELIABLE_CONNECTED, which has all operations of an unreliable connection");
            case UNRELIABLE_DATAGRAM -> require(Capability.UNRELIABLE_DATAGRAM, CREATE_QUEUE_PAIR);
        }
    }

    private void require(Capability capability, String operation) {
        require(capability, operation, "");
    }

    private void require(Capability capability, String operation, String reason) {
        if (!context.supports(capability)) {
            throw new UnsupportedVerbException(
                    operation, capability, context.device().name(), reason);
        }
    }

    /// Remote write and atomic rights require the local write right (ibv_reg_mr(3)).
    final int checkedAccess(Set<AccessFlag> access) {
        boolean remote = access.contains(AccessFlag.REMOTE_WRITE) || access.contains(AccessFlag.REMOTE_ATOMIC);
        if (remote && !access.contains(AccessFlag.LOCAL_WRITE)) {
            throw new VerbException(
                    REGISTER, Errno.EINVAL, "REMOTE_WRITE and REMOTE_ATOMIC require LOCAL_WRITE, got " + access);
        }
        if (access.contains(AccessFlag.ON_DEMAND)) {
            require(
                    Capability.ON_DEMAND_PAGING,
                    REGISTER,
                    "register the memory without ON_DEMAND; then it stays where it is");
        }
        return AccessFlag.mask(access);
    }

    /// Creates the object for [#allocate(long, Set, PageSize)].
    protected abstract MemoryRegion doAllocate(long bytes, int access, PageSize pages);

    /// Creates the object for [#register(MemorySegment, Set)].
    protected abstract MemoryRegion doRegister(MemorySegment segment, int access);

    /// Creates the object for [#registerDmaBuffer]; the default does not support DMA buffers.
    protected MemoryRegion doRegisterDmaBuffer(int file, long offset, long length, long address, int access) {
        throw new UnsupportedVerbException(
                REGISTER_DMA_BUFFER, Capability.DMA_BUFFER, context.device().name());
    }

    /// Creates the object for [#allocateWindow(MemoryWindowType)].
    protected abstract MemoryWindow doAllocateWindow(MemoryWindowType type);

    /// Creates the object for [#createSharedReceiveQueue(SharedReceiveQueueOptions)].
    protected abstract SharedReceiveQueue doCreateSharedReceiveQueue(SharedReceiveQueueOptions options);

    /// Creates the object for [#createAddressHandle(AddressVector)].
    protected abstract AddressHandle doCreateAddressHandle(AddressVector vector);

    /// Creates the object for [#createQueuePair(QueuePairOptions)].
    protected abstract QueuePair doCreateQueuePair(QueuePairOptions options);
}
