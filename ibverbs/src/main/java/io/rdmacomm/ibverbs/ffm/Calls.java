package io.rdmacomm.ibverbs.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// Calls of the control path, one method for each C signature: `L` is a pointer or 64 bits, `I` an int.
///
/// Each handle is linked without an address, so the function is its first argument. errno is read by the call
/// itself, before anything else can change it. What functions return comes in three kinds: a pointer, or NULL and
/// errno; 0, or a positive errno, or a negative one, or -1 and errno; and nothing. Here that becomes: the
/// pointer, or minus the errno; 0, or the errno; and nothing. A function that the library does not have fails
/// with EOPNOTSUPP.
final class Calls {
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO_OF_STATE = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final Downcall POINTER = new Downcall(FunctionDescriptor.of(JAVA_LONG));
    private static final Downcall POINTER_L = new Downcall(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    private static final Downcall POINTER_LL = new Downcall(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final Downcall POINTER_LI = new Downcall(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final Downcall POINTER_LLLI =
            new Downcall(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final Downcall POINTER_LLLLI =
            new Downcall(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final Downcall POINTER_LILLI =
            new Downcall(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final Downcall NUMBER_L = new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final Downcall NUMBER_LL = new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final Downcall NUMBER_LI = new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final Downcall NUMBER_LIL =
            new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final Downcall NUMBER_LILL =
            new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final Downcall NUMBER_LIIL =
            new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final Downcall NUMBER_LLL =
            new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final Downcall NUMBER_LLLL =
            new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final Downcall NUMBER_LLI =
            new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final Downcall NUMBER_LLLI =
            new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final Downcall NUMBER_LLIL =
            new Downcall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final Downcall NUMBER_LILLLI = new Downcall(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final Downcall COUNT_LLLIL =
            new Downcall(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final Downcall NOTHING_L = new Downcall(FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final Downcall NOTHING_LI = new Downcall(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));

    private Calls() {}

    static long pointer(MemorySegment function) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return pointerOr((long) POINTER.handle().invokeExact(function, state), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long pointerL(MemorySegment function, long a) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return pointerOr((long) POINTER_L.handle().invokeExact(function, state, a), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long pointerLL(MemorySegment function, long a, long b) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return pointerOr((long) POINTER_LL.handle().invokeExact(function, state, a, b), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long pointerLI(MemorySegment function, long a, int b) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return pointerOr((long) POINTER_LI.handle().invokeExact(function, state, a, b), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long pointerLLLI(MemorySegment function, long a, long b, long c, int d) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return pointerOr((long) POINTER_LLLI.handle().invokeExact(function, state, a, b, c, d), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long pointerLLLLI(MemorySegment function, long a, long b, long c, long d, int e) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return pointerOr((long) POINTER_LLLLI.handle().invokeExact(function, state, a, b, c, d, e), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long pointerLILLI(MemorySegment function, long a, int b, long c, long d, int e) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return pointerOr((long) POINTER_LILLI.handle().invokeExact(function, state, a, b, c, d, e), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberL(MemorySegment function, long a) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_L.handle().invokeExact(function, state, a), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLL(MemorySegment function, long a, long b) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LL.handle().invokeExact(function, state, a, b), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLI(MemorySegment function, long a, int b) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LI.handle().invokeExact(function, state, a, b), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLIL(MemorySegment function, long a, int b, long c) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LIL.handle().invokeExact(function, state, a, b, c), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLILL(MemorySegment function, long a, int b, long c, long d) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LILL.handle().invokeExact(function, state, a, b, c, d), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLIIL(MemorySegment function, long a, int b, int c, long d) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LIIL.handle().invokeExact(function, state, a, b, c, d), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLLL(MemorySegment function, long a, long b, long c) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LLL.handle().invokeExact(function, state, a, b, c), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLLLL(MemorySegment function, long a, long b, long c, long d) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LLLL.handle().invokeExact(function, state, a, b, c, d), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLLI(MemorySegment function, long a, long b, int c) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LLI.handle().invokeExact(function, state, a, b, c), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLLLI(MemorySegment function, long a, long b, long c, int d) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LLLI.handle().invokeExact(function, state, a, b, c, d), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLLIL(MemorySegment function, long a, long b, int c, long d) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return errno((int) NUMBER_LLIL.handle().invokeExact(function, state, a, b, c, d), state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int numberLILLLI(MemorySegment function, long a, int b, long c, long d, long e, int f) {
        if (isAbsent(function)) {
            return LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            int result = (int) NUMBER_LILLLI.handle().invokeExact(function, state, a, b, c, d, e, f);
            // ibv_rereg_mr alone: a negative number that says how far it came, and errno.
            return result == 0 ? 0 : captured(state);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /// A call that returns how many there are, or minus the errno.
    static long countLLLIL(MemorySegment function, long a, long b, long c, int d, long e) {
        if (isAbsent(function)) {
            return -LibCLayout.EOPNOTSUPP;
        }
        try (Arena arena = Arena.ofConfined()) {
            return (long) COUNT_LLLIL.handle().invokeExact(function, arena.allocate(STATE), a, b, c, d, e);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static void nothingL(MemorySegment function, long a) {
        try (Arena arena = Arena.ofConfined()) {
            NOTHING_L.handle().invokeExact(function, arena.allocate(STATE), a);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static void nothingLI(MemorySegment function, long a, int b) {
        try (Arena arena = Arena.ofConfined()) {
            NOTHING_LI.handle().invokeExact(function, arena.allocate(STATE), a, b);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /// A call whose result is a value of its own and cannot fail.
    static long valueL(MemorySegment function, long a) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) POINTER_L.handle().invokeExact(function, arena.allocate(STATE), a);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /// A failure that C cannot cause: the types of a call do not fit its handle.
    static RuntimeException unexpected(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof RuntimeException exception ? exception : new IllegalStateException("C throws nothing", e);
    }

    private static boolean isAbsent(MemorySegment function) {
        return function.address() == 0;
    }

    private static long pointerOr(long pointer, MemorySegment state) {
        return pointer != 0 ? pointer : -captured(state);
    }

    /// The errno of a call that returns 0, a positive errno, a negative one, or -1 with errno set.
    private static int errno(int result, MemorySegment state) {
        return result == -1 ? captured(state) : Math.abs(result);
    }

    /// What errno was after the call; EINVAL if the function failed without saying why.
    private static int captured(MemorySegment state) {
        int errno = (int) ERRNO_OF_STATE.get(state, 0L);
        return errno > 0 ? errno : LibCLayout.EINVAL;
    }
}
