package io.rdmacomm.soft.memory;

import io.rdmacomm.soft.mapped.KeyTable;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Registered memory of this context, as its requests and its peers use it. Immutable; a new registration makes a
/// new one.
public final class LocalRegion {
    private static final SafeLogger LOGGER = SafeLogger.of(LocalRegion.class);
    private static final long BUFFER_BYTES = 1L << 30;
    private static final int REMOTE = AccessFlag.REMOTE_WRITE.bit()
            | AccessFlag.REMOTE_READ.bit()
            | AccessFlag.REMOTE_ATOMIC.bit()
            | AccessFlag.WINDOW_BIND.bit();

    private final int key;
    private final int domain;
    private final int access;
    private final long address;
    private final MemorySegment segment;
    private final @Nullable FilePlace place;
    private final boolean mayFault;
    private final AtomicInteger windows = new AtomicInteger();
    private volatile @Nullable ByteBuffer @Nullable [] buffers;

    /// Memory that is not usable yet: see [LocalMemory#add(LocalRegion)].
    ///
    /// @param domain number of the protection domain
    /// @param access the rights, as bits
    /// @param address of its first byte, as requests name it
    /// @param place where the memory is in a file, null if only this process can reach it
    public LocalRegion(
            int key, int domain, int access, long address, MemorySegment segment, @Nullable FilePlace place) {
        this.key = key;
        this.domain = domain;
        this.access = access;
        this.address = address;
        this.segment = segment;
        this.place = place;
        this.mayFault = segment.isMapped() && (place == null || place.mapped().isOfProgram());
    }

    /// Its local and remote key.
    public int key() {
        return key;
    }

    /// Number of its protection domain.
    public int domain() {
        return domain;
    }

    /// The rights to it, as bits.
    public int access() {
        return access;
    }

    long address() {
        return address;
    }

    /// Where it begins in its file, 0 if it has none.
    public long fileOffset() {
        return place == null ? 0 : place.offset();
    }

    /// The entry of a key for a part of it.
    ///
    /// @param from the first address that the key is for
    /// @param offset where in the region that is
    /// @param length the length of the part in bytes
    /// @param rights as bits
    /// @param queuePair the only queue pair that may use it, 0 for all of the protection domain
    KeyTable.Grant grant(long from, long offset, long length, int rights, int queuePair) {
        FilePlace file = place;
        return new KeyTable.Grant(
                from,
                length,
                rights,
                domain,
                file == null ? 0 : file.number(),
                file == null ? 0 : file.key(),
                fileOffset() + offset,
                queuePair,
                key);
    }

    /// Its size in bytes.
    public long length() {
        return segment.byteSize();
    }

    /// Its memory.
    public MemorySegment segment() {
        return segment;
    }

    /// Whether each access may fault, because the memory is a file of the program: others may cut that off, and
    /// its file system may be full.
    public boolean mayFault() {
        return mayFault;
    }

    /// Where `target` is in the segment; the caller has checked that it is in the region.
    public long offsetOf(long target) {
        return target - address;
    }

    /// Whether `[from, from + bytes)` lies in the region.
    public boolean contains(long from, long bytes) {
        long offset = from - address;
        return offset >= 0 && bytes >= 0 && offset <= segment.byteSize() - bytes;
    }

    /// Whether all of these rights, as bits, are given.
    public boolean allows(int rights) {
        return (access & rights) == rights;
    }

    /// Whether peers may be given any right to it, by its own key or by that of a window.
    public boolean isRemote() {
        return (access & REMOTE) != 0;
    }

    /// A window was bound to the region, or unbound from it.
    void countWindow(int difference) {
        windows.addAndGet(difference);
    }

    /// The number of windows that are bound to it.
    public int windows() {
        return windows.get();
    }

    /// A buffer over the part of the region that contains `offset`, for sockets. Buffers overlap by more than a
    /// segment, so that a payload never lies in two. Users share the buffer: they must not change its position or
    /// limit.
    public ByteBuffer buffer(long offset) {
        int index = (int) (offset / BUFFER_BYTES);
        @Nullable ByteBuffer[] all = buffers;
        ByteBuffer buffer = all == null ? null : all[index];
        return buffer == null ? makeBuffer(index) : buffer;
    }

    /// The position of `offset` in its buffer.
    public static int inBuffer(long offset) {
        return (int) (offset % BUFFER_BYTES);
    }

    private synchronized ByteBuffer makeBuffer(int index) {
        @Nullable ByteBuffer[] before = buffers;
        @Nullable
        ByteBuffer[] all =
                before == null ? new @Nullable ByteBuffer[(int) (length() / BUFFER_BYTES) + 1] : before.clone();
        ByteBuffer buffer = all[index];
        if (buffer == null) {
            long from = index * BUFFER_BYTES;
            buffer = bufferOf(from, Math.min(2 * BUFFER_BYTES - 1, length() - from));
            all[index] = buffer;
            buffers = all;
        }
        return buffer;
    }

    private ByteBuffer bufferOf(long from, long bytes) {
        FilePlace file = place;
        if (file != null) {
            try {
                return file.mapped().map(file.offset() + from, bytes);
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, () -> this + ": sends from it will allocate", e);
            }
        }
        return segment.asSlice(from, bytes).asByteBuffer();
    }

    @Override
    public String toString() {
        return "memory region with the key 0x" + Integer.toHexString(key);
    }
}
