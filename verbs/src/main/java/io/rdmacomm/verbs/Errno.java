package io.rdmacomm.verbs;

/// An errno value of a verbs call (errno(3), Linux numbering).
///
/// [#of(int)] never throws: an unlisted number becomes [#UNKNOWN].
public enum Errno {
    /// Operation not permitted.
    EPERM(1),
    /// No such file, object or key.
    ENOENT(2),
    /// Interrupted system call.
    EINTR(4),
    /// Input/output error.
    EIO(5),
    /// Not an open file descriptor.
    EBADF(9),
    /// Try again.
    EAGAIN(11),
    /// Out of memory, or a queue is full.
    ENOMEM(12),
    /// Permission denied.
    EACCES(13),
    /// Bad address.
    EFAULT(14),
    /// The object is in use.
    EBUSY(16),
    /// No such device.
    ENODEV(19),
    /// Invalid argument.
    EINVAL(22),
    /// No space left on the device.
    ENOSPC(28),
    /// Not supported by this device.
    EOPNOTSUPP(95),
    /// The address is in use.
    EADDRINUSE(98),
    /// The address is not one of this machine or device.
    EADDRNOTAVAIL(99),
    /// The network cannot be reached.
    ENETUNREACH(101),
    /// Connection reset by peer.
    ECONNRESET(104),
    /// Not connected.
    ENOTCONN(107),
    /// The operation timed out.
    ETIMEDOUT(110),
    /// Connection refused.
    ECONNREFUSED(111),
    /// No route to the host.
    EHOSTUNREACH(113),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final Errno[] VALUES = values();

    private final int number;

    Errno(int number) {
        this.number = number;
    }

    /// The value in the C API.
    public int number() {
        return number;
    }

    /// The constant with this number, or [#UNKNOWN].
    public static Errno of(int number) {
        return Codes.find(VALUES, Errno::number, number, UNKNOWN);
    }
}
