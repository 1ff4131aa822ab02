package io.rdmacomm.soft;

import io.rdmacomm.soft.shm.KeyTable;
import io.rdmacomm.soft.shm.MappedFile;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A memory region: a file in shared memory that peers map, or the caller's memory, which only this process can
/// reach.
final class SoftMemoryRegion extends MemoryRegion {
    private static final System.Logger LOGGER = System.getLogger(SoftMemoryRegion.class.getName());
    private static final String REGISTER = "register memory (ibv_reg_mr)";
    private static final long WINDOW_BYTES = 1L << 30;

    private final SoftContext context;
    private final @Nullable MappedFile mapped;
    private final long file;
    private final AtomicInteger windows = new AtomicInteger();
    private volatile int domainNumber;
    private volatile int key;
    private volatile @Nullable ByteBuffer @Nullable [] buffers;

    private SoftMemoryRegion(
            SoftProtectionDomain domain, MemorySegment segment, @Nullable MappedFile mapped, long file, int access)
            throws IOException {
        super(domain, segment, access);
        this.context = domain.softContext();
        this.mapped = mapped;
        this.file = file;
        this.key = context.keys().allocate();
        grant();
    }

    static SoftMemoryRegion allocate(SoftProtectionDomain domain, long bytes, int access) {
        SoftContext context = domain.softContext();
        long file = context.nextFile();
        try {
            MappedFile mapped = context.createRegionFile(file, bytes);
            try {
                return new SoftMemoryRegion(domain, mapped.segment(), mapped, file, access);
            } catch (IOException | RuntimeException e) {
                mapped.close();
                throw e;
            }
        } catch (IOException e) {
            throw context.noSpace(REGISTER, bytes + " bytes of shared memory", e);
        }
    }

    static SoftMemoryRegion register(SoftProtectionDomain domain, MemorySegment segment, int access) {
        try {
            return new SoftMemoryRegion(domain, segment, null, 0, access);
        } catch (IOException e) {
            throw domain.softContext().noSpace(REGISTER, "a key", e);
        }
    }

    private void grant() {
        domainNumber = ((SoftProtectionDomain) protectionDomain()).number();
        context.regions().put(key, this);
        context.keys()
                .grant(
                        key,
                        KeyTable.REGION,
                        new KeyTable.Grant(address(), length(), accessMask(), domainNumber, file, 0, 0, key));
    }

    /// @return whether nobody uses the memory any more
    private boolean revoke() {
        context.keys().revoke(key);
        context.regions().put(key, null);
        return context.quiesce();
    }

    /// Where `address` is in the segment; the caller has checked that it is in the region.
    long offsetOf(long remoteAddress) {
        return remoteAddress - address();
    }

    /// A buffer over the part of the region that `offset` is in, for sockets. It reaches further than a segment
    /// of a message beyond [#WINDOW_BYTES], so that a payload never lies in two. Not to be moved: its users share
    /// it.
    ByteBuffer window(long offset) {
        int index = (int) (offset / WINDOW_BYTES);
        @Nullable ByteBuffer[] all = buffers;
        ByteBuffer window = all == null ? null : all[index];
        return window == null ? makeWindow(index) : window;
    }

    /// Where in its window `offset` is.
    static int inWindow(long offset) {
        return (int) (offset % WINDOW_BYTES);
    }

    private synchronized ByteBuffer makeWindow(int index) {
        MemorySegment memory = segment();
        @Nullable ByteBuffer[] before = buffers;
        @Nullable
        ByteBuffer[] all = before == null
                ? new @Nullable ByteBuffer[(int) (memory.byteSize() / WINDOW_BYTES) + 1]
                : before.clone();
        ByteBuffer window = all[index];
        if (window == null) {
            long from = index * WINDOW_BYTES;
            window = buffer(memory, from, Math.min(2 * WINDOW_BYTES - 1, memory.byteSize() - from));
            all[index] = window;
            buffers = all;
        }
        return window;
    }

    private ByteBuffer buffer(MemorySegment memory, long from, long bytes) {
        if (mapped != null) {
            try {
                return mapped.map(from, bytes);
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, () -> this + ": sends of it will allocate", e);
            }
        }
        return memory.asSlice(from, bytes).asByteBuffer();
    }

    /// Whether `[from, from + bytes)` lies in the region.
    boolean contains(long from, long bytes) {
        long offset = from - address();
        return offset >= 0 && bytes >= 0 && offset <= length() - bytes;
    }

    int domainNumber() {
        return domainNumber;
    }

    /// Whether all of these rights, as bits, are given.
    boolean allows(int rights) {
        return (accessMask() & rights) == rights;
    }

    long fileNumber() {
        return file;
    }

    /// A window was bound to the region, or unbound from it.
    void countWindow(int difference) {
        windows.addAndGet(difference);
    }

    @Override
    public int localKey() {
        return key;
    }

    @Override
    public int remoteKey() {
        return key;
    }

    @Override
    public long handle() {
        return key;
    }

    @Override
    protected @Nullable String busyWith() {
        int bound = windows.get();
        return bound == 0 ? null : bound + " memory windows are bound to it; unbind or close them first";
    }

    @Override
    protected void doReregister(
            @Nullable MemorySegment newSegment, @Nullable ProtectionDomain newDomain, int newAccess) {
        if (newSegment != null && mapped != null) {
            throw new VerbException(
                    "reregister memory (ibv_rereg_mr)",
                    Errno.EINVAL,
                    this + " owns its memory, which cannot be replaced");
        }
        if (windows.get() > 0) {
            throw new VerbException("reregister memory (ibv_rereg_mr)", Errno.EBUSY, this + " has windows bound to it");
        }
        try {
            int newKey = context.keys().allocate();
            revoke();
            context.keys().free(key);
            key = newKey;
        } catch (IOException e) {
            throw context.noSpace("reregister memory (ibv_rereg_mr)", "a key", e);
        }
        reregistered(newSegment, newDomain, newAccess);
        if (newSegment != null) {
            buffers = null;
        }
        grant();
    }

    @Override
    protected void doClose() {
        boolean idle = revoke();
        context.regionGone(key);
        context.keys().free(key);
        buffers = null;
        if (mapped != null) {
            try {
                mapped.close(idle);
            } catch (IOException e) {
                throw new VerbException("deregister memory (ibv_dereg_mr)", Errno.EIO, "unmapping " + this, e);
            }
        }
    }
}
