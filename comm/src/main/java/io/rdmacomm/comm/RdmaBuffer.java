package io.rdmacomm.comm;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Registered memory with a name, divided into blocks of equal size. One memory region, registered once for all
/// endpoints and channels of its session.
///
/// Any thread may read and write the memory, except while an operation uses it: then it belongs to the device
/// until the operation has ended.
///
/// [#next()] and [#release()] use the blocks as a ring, in order. One thread at a time calls `next`, one at a
/// time calls `release`; they may be two.
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

    private final String name;
    private final MemoryRegion region;
    private final MemorySegment segment;
    private final long address;
    private final long length;
    private final int localKey;
    private final boolean writable;
    private final ProtectionDomain domain;
    private final long blockSize;
    private final BufferSlice[] blocks;
    private volatile boolean open = true;
    private long taken;
    private long released;

    RdmaBuffer(String name, MemoryRegion region, long blockSize, int blockCount) {
        this.name = name;
        this.region = region;
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

    /// Its access rights in addition to local reading.
    public Set<AccessFlag> access() {
        return region.access();
    }

    /// This buffer as its peers see it, for programs that tell them its address and key by other means than
    /// [EndPoint#announce]; see [RemoteBuffer#of].
    public RemoteBuffer asRemote() {
        return RemoteBuffer.of(name, address, length, region.remoteKey(), region.access());
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

    /// Gives back the block that was taken longest ago.
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

    /// Unregisters the memory, and frees it unless it is the caller's. Idempotent. Operations in flight on it
    /// fail with a protection error, and their endpoint with them; memory is never touched after this.
    @Override
    public void close() {
        open = false;
        region.close();
    }

    /// Where it begins for the device.
    long address() {
        return address;
    }

    MemoryRegion region() {
        return region;
    }

    int localKey() {
        return localKey;
    }

    int remoteKey() {
        return region.remoteKey();
    }

    /// Whether the device may write into it for this side.
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
