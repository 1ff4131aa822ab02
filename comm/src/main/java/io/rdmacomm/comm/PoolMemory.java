package io.rdmacomm.comm;

import io.rdmacomm.verbs.service.Closer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The registered memory of a pool, in chunks from which slabs are carved. Registers a chunk when there is no
/// room in the others, and closes one as soon as no slab has a part of it, unless peers may be late to read it. Not
/// thread-safe, except
/// [#registered()].
final class PoolMemory {
    private static final int OWN_CHUNK = 4;

    private final long limit;
    private final long chunkBytes;
    private final LongFunction<RdmaBuffer> register;
    private final List<PoolChunk> chunks = new ArrayList<>();
    // Read without the lock of the pool.
    private final AtomicLong registered = new AtomicLong();
    private boolean open = true;

    /// @param register makes a buffer of so many bytes
    PoolMemory(PoolOptions options, LongFunction<RdmaBuffer> register) {
        this.limit = options.limit();
        this.chunkBytes = Math.min(options.chunkBytes(), limit);
        this.register = register;
    }

    /// The bytes that are registered.
    long registered() {
        return registered.get();
    }

    /// A slab of free places of that size.
    ///
    /// @return the slab; null if the limit leaves no room for one place
    /// @throws io.rdmacomm.verbs.VerbException if there is no more memory; then nothing has changed
    @Nullable
    Slab carve(SizeClass size) {
        // Fewer places are better than more memory.
        for (int places = size.placesOfSlab(); places > 0; places /= 2) {
            for (PoolChunk chunk : chunks) {
                Slab slab = carve(chunk, size, places);
                if (slab != null) {
                    return slab;
                }
            }
        }
        // A long piece in a chunk beside others would leave a rest that is too short for the next one.
        long usual = size.bytes() > chunkBytes / OWN_CHUNK ? size.bytes() : chunkBytes;
        long possible = Math.min(usual, limit - registered.get());
        if (possible < size.bytes()) {
            return null;
        }
        PoolChunk chunk = new PoolChunk(register.apply(possible));
        chunks.add(chunk);
        registered.addAndGet(possible);
        return carve(chunk, size, (int) Math.min(size.placesOfSlab(), possible / size.bytes()));
    }

    private static @Nullable Slab carve(PoolChunk chunk, SizeClass size, int places) {
        long offset = chunk.carve(size.bytes() * places);
        return offset < 0 ? null : new Slab(size, chunk, offset, places);
    }

    /// Takes a slab back whose places are all free.
    void giveBack(Slab slab) {
        PoolChunk chunk = slab.chunk();
        chunk.giveBack(slab.offset(), slab.bytes());
        if (chunk.isFree() && !(open && chunk.isKept())) {
            close(chunk);
        }
    }

    /// Keeps no chunk that is free, from now on.
    void close() {
        open = false;
        chunks.stream().filter(PoolChunk::isFree).toList().forEach(this::close);
    }

    private void close(PoolChunk chunk) {
        chunks.remove(chunk);
        RdmaBuffer buffer = chunk.buffer();
        Closer.step(buffer, buffer::close);
        registered.addAndGet(-buffer.length());
    }
}
