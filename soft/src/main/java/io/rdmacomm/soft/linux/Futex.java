package io.rdmacomm.soft.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Threads that sleep until a word in shared memory changes (futex(2)).
public final class Futex {
    private static final SafeLogger LOGGER = SafeLogger.of(Futex.class);
    // Not FUTEX_PRIVATE_FLAG: other processes wake.
    private static final long FUTEX_WAIT = 0;
    private static final long FUTEX_WAKE = 1;
    private static final long NUMBER = "amd64".equals(System.getProperty("os.arch")) ? 202 : 98;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /// A struct timespec for each thread, because the kernel reads it while others call.
    private static final ThreadLocal<MemorySegment> TIME = new ThreadLocal<>() {
        @Override
        protected MemorySegment initialValue() {
            return MemorySegment.ofBuffer(ByteBuffer.allocateDirect(2 * Long.BYTES));
        }
    };

    /// syscall(2); null if this program cannot call it. Linked when this class is first used, as a context is opened:
    /// a thread that is about to sleep or to wake another one may lack what linking needs.
    private static final @Nullable MethodHandle SYSCALL = NativeAccess.isUsable() ? link() : null;

    private Futex() {}

    @SuppressWarnings("restricted") // all arguments of syscall(2) are of the type long
    private static @Nullable MethodHandle link() {
        try {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("syscall"),
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                    Linker.Option.firstVariadicArg(1));
        } catch (RuntimeException | LinkageError e) {
            LOGGER.log(System.Logger.Level.DEBUG, "sleeping threads are woken by messages", e);
            return null;
        }
    }

    /// Whether this program can sleep and wake this way.
    public static boolean isUsable() {
        return SYSCALL != null;
    }

    /// Sleeps while the 4 bytes at `offset` are `expected`, until [#wake] or the end of the time. May return early.
    ///
    /// @param memory is mapped until this returns
    public static void await(MemorySegment memory, long offset, int expected, long nanos) {
        MemorySegment time = TIME.get();
        time.set(JAVA_LONG, 0, nanos / SECOND);
        time.set(JAVA_LONG, Long.BYTES, nanos % SECOND);
        call(memory.address() + offset, FUTEX_WAIT, expected, time.address());
    }

    /// Wakes all threads that sleep at `offset`, in this process and others. Harmless if the memory is not mapped any
    /// more.
    ///
    /// @return false if this program cannot
    public static boolean wake(MemorySegment memory, long offset) {
        return call(memory.address() + offset, FUTEX_WAKE, Integer.MAX_VALUE, 0);
    }

    private static boolean call(long address, long operation, long value, long time) {
        MethodHandle syscall = SYSCALL;
        if (syscall == null) {
            return false;
        }
        try {
            var _ = (long) syscall.invokeExact(NUMBER, address, operation, value, time);
            return true;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            // The function throws nothing, so this is a bug.
            throw new LinkageError("futex", e);
        }
    }
}
