package io.rdmacomm.soft.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/// The functions of the C library that sockets need, with the constants of Linux on x86-64 and aarch64.
final class SocketCalls {
    static final int AF_INET = 2;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int IPPROTO_IP = 0;
    static final int SOL_SOCKET = 1;
    static final int SOL_UDP = 17;
    static final int SO_TYPE = 3;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int IP_MTU_DISCOVER = 10;
    static final int IP_PMTUDISC_DO = 2;
    static final int UDP_SEGMENT = 103;
    static final int UDP_GRO = 104;

    static final int EINTR = 4;
    static final int EAGAIN = 11;
    private static final int ENOBUFS = 105;

    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle SOCKET =
            link("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle BIND = link("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle NAME =
            link("getsockname", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle OPTION =
            link("setsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle READ_OPTION =
            link("getsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SEND =
            link("sendmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle RECEIVE =
            link("recvmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle CLOSE = link("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private SocketCalls() {}

    @SuppressWarnings("restricted") // the descriptors are those of the functions
    private static MethodHandle link(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), descriptor, Linker.Option.captureCallState("errno"));
    }

    /// Memory that lives as long as its segment is in use.
    static MemorySegment allocate(long bytes) {
        return MemorySegment.ofBuffer(ByteBuffer.allocateDirect((int) bytes));
    }

    /// Memory for the errno of a call.
    static MemorySegment allocateState() {
        return allocate(STATE.byteSize());
    }

    /// A UDP socket that does not block, at any port of an address.
    ///
    /// @param address a `sockaddr_in`, which gets the port
    static int open(MemorySegment address) throws IOException {
        MemorySegment state = allocateState();
        int descriptor;
        try {
            descriptor = (int) SOCKET.invokeExact(state, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
            check("socket", descriptor, state);
        } catch (Throwable e) {
            throw failure(e);
        }
        boolean complete = false;
        try {
            int bytes = (int) address.byteSize();
            check("bind", (int) BIND.invokeExact(state, descriptor, address, bytes), state);
            MemorySegment length = allocate(Integer.BYTES);
            length.set(JAVA_INT, 0, bytes);
            check("getsockname", (int) NAME.invokeExact(state, descriptor, address, length), state);
            complete = true;
            return descriptor;
        } catch (Throwable e) {
            throw failure(e);
        } finally {
            if (!complete) {
                close(descriptor);
            }
        }
    }

    /// Sets an option to a number.
    static void set(int descriptor, int level, int option, int value) throws IOException {
        MemorySegment state = allocateState();
        MemorySegment number = allocate(Integer.BYTES);
        number.set(JAVA_INT, 0, value);
        try {
            check(
                    "setsockopt",
                    (int) OPTION.invokeExact(state, descriptor, level, option, number, Integer.BYTES),
                    state);
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    /// Whether a descriptor is that of a socket for datagrams.
    static boolean isDatagramSocket(int descriptor) {
        MemorySegment type = allocate(Integer.BYTES);
        MemorySegment length = allocate(Integer.BYTES);
        length.set(JAVA_INT, 0, Integer.BYTES);
        try {
            return (int) READ_OPTION.invokeExact(allocateState(), descriptor, SOL_SOCKET, SO_TYPE, type, length) == 0
                    && type.get(JAVA_INT, 0) == SOCK_DGRAM;
        } catch (Throwable e) {
            throw unexpected("getsockopt", e);
        }
    }

    /// Reads the address of a socket (getsockname(2)).
    ///
    /// @param address is set if the socket's address has the same length
    /// @return false if the descriptor is not a socket with such an address
    static boolean name(int descriptor, MemorySegment address) {
        MemorySegment length = allocate(Integer.BYTES);
        length.set(JAVA_INT, 0, (int) address.byteSize());
        try {
            return (int) NAME.invokeExact(allocateState(), descriptor, address, length) == 0
                    && length.get(JAVA_INT, 0) == address.byteSize();
        } catch (Throwable e) {
            throw unexpected("getsockname", e);
        }
    }

    /// Receives a message (recvmsg(2)).
    ///
    /// @return the number of bytes, or the negative errno
    static long receive(int descriptor, MemorySegment message, MemorySegment state) {
        try {
            long received = (long) RECEIVE.invokeExact(state, descriptor, message, 0);
            return received >= 0 ? received : -(int) ERRNO.get(state, 0L);
        } catch (Throwable e) {
            throw unexpected("recvmsg", e);
        }
    }

    /// Sends a message (sendmsg(2)).
    ///
    /// @return 0, the errno, or -1 if there is no room in the socket
    static int send(int descriptor, MemorySegment message, MemorySegment state) {
        try {
            long sent = (long) SEND.invokeExact(state, descriptor, message, 0);
            if (sent >= 0) {
                return 0;
            }
            int errno = (int) ERRNO.get(state, 0L);
            return errno == EAGAIN || errno == ENOBUFS ? -1 : errno;
        } catch (Throwable e) {
            throw unexpected("sendmsg", e);
        }
    }

    static void close(int descriptor) {
        try {
            var _ = (int) CLOSE.invokeExact(allocateState(), descriptor);
        } catch (Throwable e) {
            throw unexpected("close", e);
        }
    }

    private static void check(String function, int result, MemorySegment state) throws IOException {
        if (result < 0) {
            throw new IOException(function + " failed with errno " + (int) ERRNO.get(state, 0L));
        }
    }

    /// Calls that report errors in their result throw nothing, so this is a bug.
    private static Error unexpected(String function, Throwable e) {
        return switch (e) {
            case RuntimeException unchecked -> throw unchecked;
            case Error error -> error;
            default -> new LinkageError(function, e);
        };
    }

    private static IOException failure(Throwable e) {
        return switch (e) {
            case IOException failed -> failed;
            case RuntimeException failed -> throw failed;
            case Error failed -> throw failed;
            default -> new IOException(e);
        };
    }
}
