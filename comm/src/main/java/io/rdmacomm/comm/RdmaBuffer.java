package io.rdmacomm.comm;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.service.Closer;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Registered memory with a name, divided into blocks of equal size. One memory region, registered once for
/// all endpoints and channels of its session, and once more for each announcement with rights to a peer.
///
/// Any thread may read and write the memory, except while an operation uses it: then the device owns it until
/// the operation has ended.
///
/// [#next()] and [#release()] use the blocks as a ring, in order. Only one thread at a time may call `next`,
/// and only one `release`; these may be different threads.
public final class RdmaBuffer implements AutoCloseable {
    private static final VarHandle TAKEN;
    private static final VarHandle RELEASED;

    static {
        try {
            TAKEN = MethodHandles.lookup().findVarHandle(RdmaBuffer.class, "taken", long.class);
            RELEASED = MethodHandles.lookup().findVarHandle(RdmaBuffer.class, "released", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final Set<AccessFlag> FOR_PEERS = EnumSet.of(
            AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC, AccessFlag.DIRECT_VIEW);
    private static final Set<AccessFlag> WITHOUT_LOCAL_WRITE =
            EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.DIRECT_VIEW);

    private final String name;
    private final MemoryRegion region;
    private final Set<AccessFlag> access;
    private final MemorySegment segment;
    private final long address;
    private final long length;
    private final int localKey;
    private final boolean writable;
    private final ProtectionDomain domain;
    private final long blockSize;
    private final BufferSlice[] blocks;
    private final Runnable onClose;
    private volatile boolean open = true;
    private long taken;
    private long released;
    private final ReentrantLock granting = new ReentrantLock();
    private final Set<MemoryRegion> grants = new HashSet<>();

    /// @param access the rights that the program has set; the region may have more if the device needs them
    /// @param onClose called once, when the memory is no longer registered
    RdmaBuffer(
            String name,
            MemoryRegion region,
            Set<AccessFlag> access,
            long blockSize,
            int blockCount,
            Runnable onClose) {
        this.onClose = onClose;
        this.name = name;
        this.region = region;
        this.access = Set.copyOf(access);
        this.segment = region.segment();
        this.address = region.address();
        this.length = region.length();
        this.localKey = region.localKey();
        this.writable = region.access().contains(AccessFlag.LOCAL_WRITE);
        this.domain = region.protectionDomain();
        this.blockSize = blockSize;
        this.blocks = new BufferSlice[blockCount];
        for (int i = 0; i < blockCount; i++) {
            blocks[i] = new BufferSlice(this, i * blockSize, blockSize);
        }
    }

    /// Its name, unique among the open buffers of its session.
    public String name() {
        return name;
    }

    /// The whole memory.
    public MemorySegment segment() {
        return segment;
    }

    /// The length of the whole memory in bytes.
    public long length() {
        return length;
    }

    /// The length of one block in bytes.
    public long blockSize() {
        return blockSize;
    }

    /// The number of blocks.
    public int blockCount() {
        return blocks.length;
    }

    /// The access rights of its own keys in addition to local reading. The rights that
    /// [EndPoint#announce(RdmaBuffer, Set)] grants to a peer are not included.
    public Set<AccessFlag> access() {
        return access;
    }

    /// This buffer with its own key, for programs that send its address and key to peers by means other than
    /// [EndPoint#announce(RdmaBuffer)]; see [RemoteBuffer#of]. Its own key gives them the rights of
    /// [#access()], until the buffer is closed.
    public RemoteBuffer asRemote() {
        return asRemote(0, length);
    }

    /// A part of it with its own key; see [#asRemote()].
    RemoteBuffer asRemote(long offset, long size) {
        return RemoteBuffer.of(name, address + offset, size, region.remoteKey(), access);
    }

    /// Whether its own key gives peers a right.
    boolean isForPeers() {
        return access.stream().anyMatch(FOR_PEERS::contains);
    }

    /// The part of `rights` that a peer can have and the device supports.
    ///
    /// @throws IllegalArgumentException if `rights` is empty, contains another right, has DIRECT_VIEW without
    ///         REMOTE_READ, or needs LOCAL_WRITE, which the buffer lacks
    Set<AccessFlag> checkedRights(Set<AccessFlag> rights) {
        Set<AccessFlag> remote = EnumSet.copyOf(FOR_PEERS);
        remote.retainAll(rights);
        boolean others = rights.stream().anyMatch(right -> right != AccessFlag.LOCAL_WRITE && !remote.contains(right));
        if (remote.isEmpty() || others) {
            throw new IllegalArgumentException("rights " + rights + " of an announcement; possible are " + FOR_PEERS);
        }
        if (!writable && !WITHOUT_LOCAL_WRITE.containsAll(remote)) {
            throw new IllegalArgumentException(
                    this + " was made without LOCAL_WRITE, so that peers can have " + WITHOUT_LOCAL_WRITE + " only");
        }
        if (remote.contains(AccessFlag.DIRECT_VIEW) && !remote.contains(AccessFlag.REMOTE_READ)) {
            throw new IllegalArgumentException(
                    "rights " + rights + " of an announcement; DIRECT_VIEW requires REMOTE_READ");
        }
        return domain.context().supported(remote);
    }

    /// Registers the memory once more, with rights for a peer and a separate key, until [#revoke] or
    /// [#close()].
    ///
    /// @param rights of [#checkedRights]
    /// @throws IllegalArgumentException if it is closed
    MemoryRegion grant(Set<AccessFlag> rights) {
        Set<AccessFlag> all = EnumSet.copyOf(region.access());
        all.removeAll(FOR_PEERS);
        all.remove(AccessFlag.WINDOW_BIND);
        all.addAll(rights);
        granting.lock();
        try {
            if (!isOpen()) {
                throw new IllegalArgumentException(this + " is closed");
            }
            MemoryRegion grant = domain.register(segment, all);
            grants.add(grant);
            return grant;
        } finally {
            granting.unlock();
        }
    }

    /// Ends a registration of [#grant]. Idempotent.
    void revoke(MemoryRegion grant) {
        granting.lock();
        try {
            grants.remove(grant);
        } finally {
            granting.unlock();
        }
        grant.close();
    }

    /// Block `index`; always the same object.
    ///
    /// @throws IndexOutOfBoundsException if there is no such block
    public BufferSlice block(int index) {
        return blocks[index];
    }

    /// A range of it. Allocates the slice.
    ///
    /// @throws IndexOutOfBoundsException if the range is not within it
    public BufferSlice slice(long offset, long size) {
        return new BufferSlice(this, offset, size);
    }

    /// All of it. Allocates the slice.
    public BufferSlice whole() {
        return new BufferSlice(this, 0, length);
    }

    /// Takes the next block of the ring. Never blocks.
    ///
    /// @return the block, or null when all are taken
    public @Nullable BufferSlice next() {
        long position = taken;
        if (position - (long) RELEASED.getAcquire(this) == blocks.length) {
            return null;
        }
        TAKEN.setRelease(this, position + 1);
        return blocks[(int) (position % blocks.length)];
    }

    /// Returns the oldest taken block to the ring.
    ///
    /// @return that block
    /// @throws IllegalStateException if no block is taken
    public BufferSlice release() {
        long position = released;
        if (position == (long) TAKEN.getAcquire(this)) {
            throw new IllegalStateException("no block of " + this + " is taken");
        }
        RELEASED.setRelease(this, position + 1);
        return blocks[(int) (position % blocks.length)];
    }

    /// The number of blocks of the ring that are taken.
    public int taken() {
        return (int) ((long) TAKEN.getAcquire(this) - (long) RELEASED.getAcquire(this));
    }

    /// Fills all of it with zeroes.
    public void clear() {
        segment.fill((byte) 0);
    }

    /// Whether [#close()] was not called and its session is open.
    public boolean isOpen() {
        return open && region.isOpen();
    }

    /// Unregisters the memory, and frees it unless the caller owns it. Idempotent. Operations in flight on it
    /// fail with a protection error, and their endpoint with them; no device touches the memory after this.
    @Override
    public void close() {
        List<MemoryRegion> rest;
        boolean first;
        granting.lock();
        try {
            first = open;
            open = false;
            rest = List.copyOf(grants);
            grants.clear();
        } finally {
            granting.unlock();
        }
        // First, because they refer to the memory of the region.
        rest.forEach(grant -> Closer.step(grant, grant::close));
        try {
            region.close();
        } finally {
            if (first) {
                onClose.run();
            }
        }
    }

    /// Its start address for the device.
    long address() {
        return address;
    }

    MemoryRegion region() {
        return region;
    }

    int localKey() {
        return localKey;
    }

    /// Whether local operations may write into it.
    boolean isWritable() {
        return writable;
    }

    /// The protection domain it is registered in.
    ProtectionDomain domain() {
        return domain;
    }

    @Override
    public String toString() {
        return "buffer '" + name + "' of " + blocks.length + " x " + blockSize + " bytes";
    }
}
