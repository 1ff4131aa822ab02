package io.rdmacomm.ibverbs.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;

/// The functions of the C library that this provider needs: waiting for a file descriptor, waking a waiting thread, and
/// the limit of locked memory. Thread-safe.
public final class LibC {
    private static final MethodHandle POLL =
            link("poll", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MAKE_EVENT = link("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle MAKE_POLL_SET = link("epoll_create1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle CHANGE_POLL_SET =
            link("epoll_ctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle ASK_POLL_SET =
            link("epoll_wait", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle WRITE_BYTES =
            link("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle READ_BYTES =
            link("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CLOSE_FILE = link("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle GET_LIMIT =
            link("getrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle CONTROL_FILE = link(
            "fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));

    private LibC() {}

    /// Waits until one of two file descriptors can be read (poll(2)). Blocks its thread, and the carrier of a
    /// virtual thread. A signal may end the wait early.
    ///
    /// @param milliseconds the longest wait; 0 to return at once
    /// @return whether the first one can be read
    public static boolean awaitReadable(int file, int other, int milliseconds) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment files = arena.allocate(2L * LibCLayout.POLL_BYTES, 8);
            files.set(JAVA_INT, LibCLayout.POLL_FILE, file);
            files.set(JAVA_SHORT, LibCLayout.POLL_EVENTS, (short) LibCLayout.POLL_IN);
            files.set(JAVA_INT, LibCLayout.POLL_BYTES + LibCLayout.POLL_FILE, other);
            files.set(JAVA_SHORT, LibCLayout.POLL_BYTES + LibCLayout.POLL_EVENTS, (short) LibCLayout.POLL_IN);
            int ready = (int) POLL.invokeExact(files.address(), 2L, milliseconds);
            return ready > 0 && files.get(JAVA_SHORT, LibCLayout.POLL_RESULT) != 0;
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// A new file descriptor that can be read once [#signal(int)] was called (eventfd(2)); negative if the
    /// process has no more of them.
    public static int createEvent() {
        try {
            return (int) MAKE_EVENT.invokeExact(0, LibCLayout.CLOSE_ON_EXEC);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// Makes the file descriptor of [#createEvent()] readable until [#clear(int)].
    public static void signal(int event) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment one = arena.allocateFrom(JAVA_LONG, 1L);
            long written = (long) WRITE_BYTES.invokeExact(event, one.address(), one.byteSize());
            if (written != one.byteSize()) {
                throw new IllegalStateException("eventfd " + event + " takes no signal");
            }
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// Undoes [#signal(int)]. Blocks if there was no signal.
    public static void clear(int event) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_LONG);
            long read = (long) READ_BYTES.invokeExact(event, count.address(), count.byteSize());
            if (read != count.byteSize()) {
                throw new IllegalStateException("eventfd " + event + " gives no signal back");
            }
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// A new file descriptor that can be read while one of its members can (epoll_create1(2)); negative if the process
    /// has no more of them.
    public static int createPollSet() {
        try {
            return (int) MAKE_POLL_SET.invokeExact(LibCLayout.CLOSE_ON_EXEC);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// Adds a file descriptor to those of [#createPollSet()] (epoll_ctl(2)).
    ///
    /// @param value the value that [#nextOfPollSet] returns for it
    /// @return false if there is no room for it
    public static boolean addToPollSet(int set, int file, long value) {
        return changePollSet(set, LibCLayout.POLL_SET_ADD, file, value);
    }

    /// Removes a file descriptor before it is closed (epoll_ctl(2)); does nothing if it is not a member.
    public static void removeFromPollSet(int set, int file) {
        boolean _ = changePollSet(set, LibCLayout.POLL_SET_REMOVE, file, 0);
    }

    private static boolean changePollSet(int set, int operation, int file, long value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment member = arena.allocate(LibCLayout.POLL_SET_BYTES, 8);
            member.set(JAVA_INT, LibCLayout.POLL_SET_EVENTS, LibCLayout.POLL_IN);
            member.set(JAVA_LONG_UNALIGNED, LibCLayout.POLL_SET_VALUE, value);
            return (int) CHANGE_POLL_SET.invokeExact(set, operation, file, member.address()) == 0;
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// The value of a member that can be read (epoll_wait(2)); 0 if there is none now. Members that can be read take
    /// turns.
    public static long nextOfPollSet(int set) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment member = arena.allocate(LibCLayout.POLL_SET_BYTES, 8);
            int ready = (int) ASK_POLL_SET.invokeExact(set, member.address(), 1, 0);
            return ready > 0 ? member.get(JAVA_LONG_UNALIGNED, LibCLayout.POLL_SET_VALUE) : 0;
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// Closes a file descriptor (close(2)).
    public static void close(int file) {
        try {
            int _ = (int) CLOSE_FILE.invokeExact(file);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// Makes reads of a file descriptor return EAGAIN instead of waiting (fcntl(2)).
    ///
    /// @return whether that worked
    public static boolean makeNonBlocking(int file) {
        try {
            int flags = (int) CONTROL_FILE.invokeExact(file, LibCLayout.GET_FLAGS, 0);
            return flags >= 0
                    && (int) CONTROL_FILE.invokeExact(file, LibCLayout.SET_FLAGS, flags | LibCLayout.NON_BLOCKING) >= 0;
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// The number of bytes this process may lock in memory (getrlimit(2), RLIMIT_MEMLOCK); -1 for no limit.
    public static long lockedMemoryLimit() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limit = arena.allocate(LibCLayout.LIMIT_BYTES, 8);
            int result = (int) GET_LIMIT.invokeExact(LibCLayout.LIMIT_LOCKED_MEMORY, limit.address());
            return result == 0 ? limit.get(JAVA_LONG, LibCLayout.LIMIT_CURRENT) : -1;
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @SuppressWarnings("restricted") // the descriptors are those of the C headers
    private static MethodHandle link(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(find(name), descriptor, options);
    }

    private static MemorySegment find(String name) {
        return Linker.nativeLinker()
                .defaultLookup()
                .find(name)
                .orElseThrow(() -> new NoSuchElementException("the C library has no " + name));
    }
}
