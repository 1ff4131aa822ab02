package io.rdmacomm.soft.mapped;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// Words in memory that several processes read and write, with the ordering each use needs. Offsets are aligned
/// to the size of the word.
public final class SharedWords {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private SharedWords() {}

    /// Reads 8 bytes; what the writer stored before [#release] is visible afterwards.
    public static long acquire(MemorySegment memory, long offset) {
        return (long) LONG.getAcquire(memory, offset);
    }

    /// Reads 8 bytes, some recent value of them.
    public static long opaque(MemorySegment memory, long offset) {
        return (long) LONG.getOpaque(memory, offset);
    }

    /// Reads 8 bytes after all atomic changes that this thread has made before, and in one order with those of others.
    public static long current(MemorySegment memory, long offset) {
        return (long) LONG.getVolatile(memory, offset);
    }

    /// Writes 8 bytes after everything stored before.
    public static void release(MemorySegment memory, long offset, long value) {
        LONG.setRelease(memory, offset, value);
    }

    /// Writes 8 bytes after everything stored before, and has them seen before anything is read afterwards. For that
    /// a volatile store is not enough: an [#acquire] is not a volatile read, and may overtake it ([VarHandle]).
    public static void publish(MemorySegment memory, long offset, long value) {
        LONG.setRelease(memory, offset, value);
        VarHandle.fullFence();
    }

    /// Replaces 8 bytes if they are as expected.
    public static boolean compareAndSet(MemorySegment memory, long offset, long expected, long value) {
        return LONG.compareAndSet(memory, offset, expected, value);
    }

    /// Replaces 8 bytes if they are as expected, and returns what they were.
    public static long compareAndExchange(MemorySegment memory, long offset, long expected, long value) {
        return (long) LONG.compareAndExchange(memory, offset, expected, value);
    }

    /// Adds to 8 bytes and returns what they were.
    public static long getAndAdd(MemorySegment memory, long offset, long addend) {
        return (long) LONG.getAndAdd(memory, offset, addend);
    }

    /// Sets 8 bytes and returns what they were.
    public static long getAndSet(MemorySegment memory, long offset, long value) {
        return (long) LONG.getAndSet(memory, offset, value);
    }

    /// Sets bits in 8 bytes.
    public static void setBits(MemorySegment memory, long offset, long bits) {
        long _ = (long) LONG.getAndBitwiseOr(memory, offset, bits);
    }

    /// Reads 4 bytes; what the writer stored before [#releaseInt] is visible afterwards.
    public static int acquireInt(MemorySegment memory, long offset) {
        return (int) INT.getAcquire(memory, offset);
    }

    /// Reads 4 bytes, some recent value of them.
    public static int opaqueInt(MemorySegment memory, long offset) {
        return (int) INT.getOpaque(memory, offset);
    }

    /// Reads 4 bytes after all atomic changes that this thread has made before, and in one order with those of others.
    public static int currentInt(MemorySegment memory, long offset) {
        return (int) INT.getVolatile(memory, offset);
    }

    /// Writes 4 bytes after everything stored before.
    public static void releaseInt(MemorySegment memory, long offset, int value) {
        INT.setRelease(memory, offset, value);
    }

    /// Writes 4 bytes as [#publish] does 8.
    public static void publishInt(MemorySegment memory, long offset, int value) {
        INT.setRelease(memory, offset, value);
        VarHandle.fullFence();
    }

    /// Replaces 4 bytes if they are as expected.
    public static boolean compareAndSetInt(MemorySegment memory, long offset, int expected, int value) {
        return INT.compareAndSet(memory, offset, expected, value);
    }

    /// Throws the [InternalError] of an access before this call, if that hit memory which was cut off the
    /// file. Java throws it "at the time of the access or at some later time" ([java.nio.MappedByteBuffer]); in
    /// compiled code, the `try` block may have ended by then. A call of native code is the latest time.
    public static void throwFault() {
        boolean _ = Thread.holdsLock(LONG);
    }
}
