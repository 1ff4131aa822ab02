package io.rdmacomm.soft.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;

/// Threads that sleep until a word in shared memory changes (futex(2)).
public final class Futex {
    private static final boolean USABLE = NativeAccess.isUsable();

    private Futex() {}

    /// Whether this program can sleep and wake this way.
    public static boolean isUsable() {
        return USABLE;
    }

    /// Sleeps while the 4 bytes at `offset` are `expected`, until [#wake] or the end of the time. May return early.
    ///
    /// @param memory is mapped until this returns
    public static void await(MemorySegment memory, long offset, int expected, long nanos) {
        Calls.await(memory.address() + offset, expected, nanos);
    }

    /// Wakes all threads that sleep at `offset`, in this process and others. Harmless if the memory is not mapped any
    /// more.
    ///
    /// @return false if this program cannot
    public static boolean wake(MemorySegment memory, long offset) {
        if (USABLE) {
            Calls.wake(memory.address() + offset);
        }
        return USABLE;
    }

    /// Links the function when it is first used.
    private static final class Calls {
        // Not FUTEX_PRIVATE_FLAG: other processes wake.
        private static final long FUTEX_WAIT = 0;
        private static final long FUTEX_WAKE = 1;
        private static final long NUMBER = System.getProperty("os.arch").equals("amd64") ? 202 : 98;
        private static final MethodHandle SYSCALL = link();
        /// A struct timespec for each thread, because the kernel reads it while others call.
        private static final ThreadLocal<MemorySegment> TIME = new ThreadLocal<>() {
            @Override
            protected MemorySegment initialValue() {
                return SocketCalls.allocate(2 * JAVA_LONG.byteSize());
            }
        };

        @SuppressWarnings("restricted") // all arguments of syscall(2) are of the type long
        private static MethodHandle link() {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("syscall"),
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                    Linker.Option.firstVariadicArg(1));
        }

        static void await(long address, int expected, long nanos) {
            MemorySegment time = TIME.get();
            long second = TimeUnit.SECONDS.toNanos(1);
            time.set(JAVA_LONG, 0, nanos / second);
            time.set(JAVA_LONG, JAVA_LONG.byteSize(), nanos % second);
            call(address, FUTEX_WAIT, expected, time.address());
        }

        static void wake(long address) {
            call(address, FUTEX_WAKE, Integer.MAX_VALUE, 0);
        }

        private static void call(long address, long operation, long value, long time) {
            try {
                var _ = (long) SYSCALL.invokeExact(NUMBER, address, operation, value, time);
            } catch (Throwable e) {
                throw SocketCalls.unexpected("futex", e);
            }
        }
    }
}
