package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.Set;

/// Groups memory and queue pairs (`struct ibv_pd`, ibv_alloc_pd(3)): only queue pairs of the same protection
/// domain, and their peers, can use a memory region. Thread-safe. Not for the data path.
public final class ProtectionDomain implements Resource {
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
    private final ProtectionDomainDriver driver;
    private final Lifetime lifetime;

    ProtectionDomain(Context context, ProtectionDomainDriver driver) {
        this.context = context;
        this.driver = driver;
        this.lifetime = new Lifetime(this, context.lifetime(), driver);
    }

    /// The open device that it belongs to.
    public Context context() {
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
    public MemoryRegion allocate(long bytes, Set<AccessFlag> access) {
        return allocate(bytes, access, PageSize.NORMAL);
    }

    /// Allocates zeroed memory in pages of a kind and registers it; see [#allocate(long, Set)]. Huge pages
    /// are used whole: the region has the requested length, the rest of its last page is unused.
    ///
    /// @param bytes the length in bytes, at least 1
    /// @param access the rights to use it, in addition to local reads
    /// @throws UnsupportedVerbException if the device does not allocate huge pages; it can still register
    ///        those of the program
    /// @throws VerbException as for [#allocate(long, Set)]; ENOMEM, too, if the system has too few free huge
    ///        pages;
    ///         the message says how to reserve more
    public MemoryRegion allocate(long bytes, Set<AccessFlag> access, PageSize pages) {
        lifetime.checkOpen();
        Checks.range("length of a memory region", bytes, 1, Long.MAX_VALUE);
        if (pages == PageSize.HUGE) {
            context.require(
                    Capability.HUGE_PAGES,
                    "allocate memory in huge pages",
                    "use PageSize.NORMAL; the memory of a software device is files in /dev/shm, whose pages are chosen when"
                            + " that is mounted (`huge` in tmpfs(5))");
        }
        int rights = checkedAccess(access);
        return adopt(MemoryRegion.of(this, driver.allocate(bytes, rights, pages), rights));
    }

    /// Registers the caller's memory (ibv_reg_mr(3)). The region keeps the segment reachable. The caller
    /// frees it after closing the region, and not before polling the completions of all requests that use it,
    /// or closing their queue pairs: some adapters deliver short messages within the completion, and polling
    /// copies them to memory.
    ///
    /// The memory may be a part of another region. On the software device, peers on this host map allocated
    /// memory, and files that the program has mapped, once for all regions that have a part of it. Closing such a
    /// part fails with ETIMEDOUT if a process that was stopped may still write to it: the region is closed then,
    /// and its memory must not be used for anything else.
    ///
    /// @param segment native memory of at least 1 byte, not of a confined arena
    /// @param access the rights to use it, in addition to local reads
    /// @throws IllegalArgumentException if the segment is on the heap, empty or confined to one thread
    /// @throws UnsupportedVerbException for ON_DEMAND, if the device does not support it
    /// @throws VerbException EINVAL for remote write or atomic without local write, ENOMEM if the device cannot
    ///         register it; the message names the limit to raise
    public MemoryRegion register(MemorySegment segment, Set<AccessFlag> access) {
        lifetime.checkOpen();
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
        int rights = checkedAccess(access);
        return adopt(MemoryRegion.of(this, driver.register(segment, rights), rights));
    }

    /// Maps a part of a file and registers it (mmap(2), ibv_reg_mr(3)): for writing with LOCAL_WRITE, otherwise
    /// read-only. The region owns the mapping: closing the region unmaps it, so other regions of its
    /// [MemoryRegion#segment()] have to be closed before. The channel may be closed at once. The file never
    /// becomes longer by this.
    ///
    /// An adapter keeps the pages of the file in memory, and the limit of locked memory counts, unless it has the
    /// right ON_DEMAND. On the software device nothing is locked. Peers on the same host map the file themselves
    /// if they can open it, and it is still the same file. Then no thread of this process takes part in their
    /// operations. Other peers, and those of a file that was removed or is at another path for them, are served
    /// by a thread of this process. A file that is made shorter, or a file system that is full, fails the
    /// operations that need the missing part (see [java.nio.MappedByteBuffer]), with their queue pair; the rest
    /// of the last page of the file is zeroes.
    ///
    /// As with any files, a process that opens and closes one loses its locks on it (fcntl(2)); peers do that.
    /// Closing the region fails with ETIMEDOUT if a process that was stopped may still write to the file: the
    /// region is closed then.
    ///
    /// @param file open for reading, and with LOCAL_WRITE for writing
    /// @param offset where in the file the part begins
    /// @param length the length in bytes, at least 1
    /// @param access the rights to use it, in addition to local reads
    /// @throws UnsupportedVerbException for ON_DEMAND, if the device does not support it
    /// @throws VerbException EINVAL for remote write or atomic without local write, or if the file is shorter
    ///         than the part; EACCES if the channel was not opened for what the rights need; EBADF if it is
    ///         closed; EOPNOTSUPP if such a file cannot be mapped, EIO if the system does not map it; EFAULT if
    ///         the device cannot register files; ENOMEM if there is not enough memory or the limit of locked
    ///         memory is too low
    /// @throws RdmaInterruptedException if the thread was interrupted, which closes the channel
    public MemoryRegion map(FileChannel file, long offset, long length, Set<AccessFlag> access) {
        lifetime.checkOpen();
        Checks.range("offset in a file", offset, 0, Long.MAX_VALUE - 1);
        Checks.range("length of a memory region", length, 1, Long.MAX_VALUE - offset);
        int rights = checkedAccess(access);
        Arena mapping = Arena.ofShared();
        MemoryRegionDriver region = null;
        try {
            region = driver.map(FileMapping.of(file, offset, length, rights, mapping), mapping, rights);
        } finally {
            if (region == null) {
                mapping.close();
            }
        }
        return adopt(MemoryRegion.of(this, region, rights));
    }

    /// Registers a part of a DMA buffer (ibv_reg_dmabuf_mr(3)): memory of another device, for example of a
    /// graphics processor, represented by a file descriptor. The adapter transfers from and to it without a
    /// copy in this process. The region has no [MemoryRegion#segment()]. It keeps the buffer, so the file can
    /// be closed. Messages can arrive in it if the device has [Capability#ARRIVAL_AT_OFFSETS].
    ///
    /// @param file the number of the file descriptor, open in this process
    /// @param offset the offset of the memory in the buffer
    /// @param length the length in bytes, at least 1
    /// @param address the address of its first byte in scatter/gather elements and for peers; any with the
    ///        same position in a page as `offset`
    /// @param access the rights to use it, in addition to local reads: LOCAL_WRITE, REMOTE_WRITE,
    ///        REMOTE_READ, REMOTE_ATOMIC, RELAXED_ORDERING
    /// @throws UnsupportedVerbException if the library, the driver or the device does not support DMA buffers
    /// @throws VerbException EINVAL for other rights, remote write or atomic without local write, an address
    ///        that does
    ///         not fit the offset, or a range beyond the buffer; EBADF if the file is not open
    public MemoryRegion registerDmaBuffer(int file, long offset, long length, long address, Set<AccessFlag> access) {
        lifetime.checkOpen();
        Checks.range("file descriptor of a DMA buffer", file, 0, Integer.MAX_VALUE);
        Checks.range("offset in a DMA buffer", offset, 0, Long.MAX_VALUE);
        Checks.range("length of a memory region", length, 1, Long.MAX_VALUE - offset);
        context.require(
                Capability.DMA_BUFFER,
                REGISTER_DMA_BUFFER,
                "it cannot reach memory of other devices; have them copy the data to memory of this process");
        if (!OF_DMA_BUFFERS.containsAll(access)) {
            throw new VerbException(
                    REGISTER_DMA_BUFFER, Errno.EINVAL, "rights " + access + "; allowed are " + OF_DMA_BUFFERS);
        }
        if ((address - offset) % PAGE != 0) {
            throw new VerbException(
                    REGISTER_DMA_BUFFER,
                    Errno.EINVAL,
                    "address 0x" + Long.toHexString(address) + " and offset 0x" + Long.toHexString(offset)
                            + " have different positions in a page");
        }
        int rights = checkedAccess(access);
        MemoryRegionDriver region = driver.registerDmaBuffer(file, offset, length, address, rights);
        return adopt(MemoryRegion.elsewhere(this, region, address, length, rights));
    }

    /// Allocates an unbound memory window (ibv_alloc_mw(3)).
    ///
    /// @throws UnsupportedVerbException if the device does not support windows of that type
    public MemoryWindow allocateWindow(MemoryWindowType type) {
        lifetime.checkOpen();
        context.require(
                type == MemoryWindowType.TYPE_1 ? Capability.MEMORY_WINDOW_TYPE_1 : Capability.MEMORY_WINDOW_TYPE_2,
                "allocate memory window (ibv_alloc_mw)");
        MemoryWindow window = new MemoryWindow(lifetime, type, driver.allocateWindow(type));
        lifetime.adopt(window.lifetime());
        return window;
    }

    /// Creates a shared receive queue (ibv_create_srq(3)).
    ///
    /// @throws UnsupportedVerbException if the device does not support them
    /// @throws VerbException EINVAL if the size exceeds a limit of the device
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueOptions options) {
        lifetime.checkOpen();
        context.require(Capability.SHARED_RECEIVE_QUEUE, "create shared receive queue (ibv_create_srq)");
        SharedReceiveQueue queue = new SharedReceiveQueue(
                this,
                options,
                driver.createSharedReceiveQueue(options.receives(), options.elements(), options.limit()));
        lifetime.adopt(queue.lifetime());
        return queue;
    }

    /// Creates an address handle for datagrams (ibv_create_ah(3)).
    ///
    /// @throws UnsupportedVerbException if the device does not support datagrams
    public AddressHandle createAddressHandle(AddressVector vector) {
        lifetime.checkOpen();
        context.require(Capability.UNRELIABLE_DATAGRAM, "create address handle (ibv_create_ah)");
        AddressHandle handle = new AddressHandle(lifetime, driver.createAddressHandle(vector));
        lifetime.adopt(handle.lifetime());
        return handle;
    }

    /// Creates an address handle for datagrams to the port of `remote`, through a local port and GID.
    ///
    /// @throws UnsupportedVerbException if the device does not support datagrams
    public AddressHandle createAddressHandle(QueuePairInfo remote, PathOptions path) {
        lifetime.checkOpen();
        int index = path.gidIndex().orElseGet(() -> context.preferredGidIndex(path.port()));
        return createAddressHandle(path.to(remote.gid(), remote.lid(), index));
    }

    /// Creates an address handle for the answer to a datagram (ibv_create_ah_from_wc(3)); see [Context#pathBack].
    ///
    /// @param port the local port that received it, counted from 1
    /// @param index the position of its completion
    /// @param buffer the buffer of its receive, from the first byte on
    /// @throws UnsupportedVerbException if the device does not support datagrams
    /// @throws VerbException EINVAL if there is no path back; the message says why
    public AddressHandle createAddressHandle(int port, Completions completions, int index, MemorySegment buffer) {
        return createAddressHandle(context.pathBack(port, completions, index, buffer));
    }

    /// Creates a queue pair in state RESET (ibv_create_qp(3)).
    ///
    /// @throws UnsupportedVerbException if the device does not support queue pairs of that type
    /// @throws VerbException EINVAL if a size exceeds a limit of the device or an object belongs to another
    ///         context, ENOMEM if the device has no more queue pairs
    public QueuePair createQueuePair(QueuePairOptions options) {
        lifetime.checkOpen();
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
        // Checked before the device allocates anything.
        options.sendCompletions().lifetime().checkOpen();
        options.receiveCompletions().lifetime().checkOpen();
        if (shared != null) {
            shared.lifetime().checkOpen();
        }
        QueuePair queuePair = new QueuePair(this, options);
        lifetime.adopt(queuePair.lifetime(), queuePair::begin);
        return queuePair;
    }

    private MemoryRegion adopt(MemoryRegion region) {
        lifetime.adopt(region.lifetime());
        return region;
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
            case RELIABLE_CONNECTED -> context.require(Capability.RELIABLE_CONNECTED, CREATE_QUEUE_PAIR);
            case UNRELIABLE_CONNECTED ->
                context.require(
                        Capability.UNRELIABLE_CONNECTED,
                        CREATE_QUEUE_PAIR,
                        "use RELIABLE_CONNECTED, which has all operations of an unreliable connection");
            case UNRELIABLE_DATAGRAM -> context.require(Capability.UNRELIABLE_DATAGRAM, CREATE_QUEUE_PAIR);
        }
    }

    /// Remote write and atomic rights require the local write right (ibv_reg_mr(3)), and direct views show what a
    /// READ could read.
    int checkedAccess(Set<AccessFlag> access) {
        boolean remote = access.contains(AccessFlag.REMOTE_WRITE) || access.contains(AccessFlag.REMOTE_ATOMIC);
        if (remote && !access.contains(AccessFlag.LOCAL_WRITE)) {
            throw new VerbException(
                    REGISTER, Errno.EINVAL, "REMOTE_WRITE and REMOTE_ATOMIC require LOCAL_WRITE, got " + access);
        }
        if (access.contains(AccessFlag.DIRECT_VIEW) && !access.contains(AccessFlag.REMOTE_READ)) {
            throw new VerbException(REGISTER, Errno.EINVAL, "DIRECT_VIEW requires REMOTE_READ, got " + access);
        }
        if (access.contains(AccessFlag.ON_DEMAND)) {
            context.require(
                    Capability.ON_DEMAND_PAGING,
                    REGISTER,
                    "register the memory without ON_DEMAND; then it stays where it is");
        }
        return AccessFlag.mask(access);
    }

    ProtectionDomainDriver driver() {
        return driver;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return driver.toString();
    }
}
