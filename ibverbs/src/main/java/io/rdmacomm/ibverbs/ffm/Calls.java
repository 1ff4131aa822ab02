package io.rdmacomm.ibverbs.ffm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// Calls on the control path. All C functions called here share one linked signature: six 64-bit integers in, one
/// 64-bit integer out.
///
/// On x86-64 and aarch64 the first six integer and pointer arguments travel in one register each, and a function
/// reads the low bits of those that it declares (decision 27). Linking a signature takes milliseconds, so one for all
/// also starts faster than twenty.
///
/// The handle takes the function address as an argument. The call itself captures errno, before anything else can
/// change it. C reports failure in several ways; here a call returns a pointer or minus the errno, or 0 or the
/// errno. A function that the library lacks fails with EOPNOTSUPP.
final class Calls {
    private static final int MOST_ARGUMENTS = 6;
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle CALL = link();

    private Calls() {}

    @SuppressWarnings("restricted") // the functions behind the addresses take at most six integers or pointers
    private static MethodHandle link() {
        FunctionDescriptor descriptor =
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        return Linker.nativeLinker().downcallHandle(descriptor, Linker.Option.captureCallState("errno"));
    }

    /// Calls a function that returns a pointer, or NULL and sets errno.
    ///
    /// @return the pointer, or minus the errno
    static long pointer(MemorySegment function, long... arguments) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long pointer = call(function, state, arguments);
            return pointer != 0 ? pointer : -errno(state);
        }
    }

    /// Calls a function that returns 0, a positive or negative errno, or -1 and sets errno.
    ///
    /// @return 0 or the errno
    static int number(MemorySegment function, long... arguments) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            int number = (int) call(function, state, arguments);
            return number == -1 ? errno(state) : Math.abs(number);
        }
    }

    /// Calls a function that returns 0, or any other number and sets errno.
    ///
    /// @return 0 or the errno
    static int numberWithErrno(MemorySegment function, long... arguments) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return (int) call(function, state, arguments) == 0 ? 0 : errno(state);
        }
    }

    /// Calls a function whose 64-bit result, if any, is returned as it is.
    ///
    /// @return the result; minus EOPNOTSUPP if the library lacks the function
    static long value(MemorySegment function, long... arguments) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            return call(function, arena.allocate(STATE), arguments);
        }
    }

    private static long call(MemorySegment function, MemorySegment state, long[] arguments) {
        if (arguments.length > MOST_ARGUMENTS) {
            throw new IllegalArgumentException(arguments.length + " arguments do not fit in registers");
        }
        try {
            return (long) CALL.invokeExact(
                    function,
                    state,
                    argument(arguments, 0),
                    argument(arguments, 1),
                    argument(arguments, 2),
                    argument(arguments, 3),
                    argument(arguments, 4),
                    argument(arguments, 5));
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    private static long argument(long[] arguments, int index) {
        return index < arguments.length ? arguments[index] : 0;
    }

    /// For a failure that C cannot cause: the types of a call do not match its handle.
    static RuntimeException unexpected(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof RuntimeException exception ? exception : new IllegalStateException("C throws nothing", e);
    }

    private static boolean isAbsent(MemorySegment function) {
        return function.address() == 0;
    }

    /// The value of errno after the call; EINVAL if the function failed without setting it.
    private static int errno(MemorySegment state) {
        int errno = (int) ERRNO.get(state, 0L);
        return errno > 0 ? errno : LibCLayout.EINVAL;
    }
}
