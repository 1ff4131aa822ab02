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
    /// No such device or address.
    ENXIO(6),
    /// An argument list is too long.
    E2BIG(7),
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
    /// The object exists already.
    EEXIST(17),
    /// No such device.
    ENODEV(19),
    /// Invalid argument.
    EINVAL(22),
    /// The machine has too many open files.
    ENFILE(23),
    /// The process has too many open files.
    EMFILE(24),
    /// The file does not have this control operation.
    ENOTTY(25),
    /// No space left on the device.
    ENOSPC(28),
    /// The file system is read-only.
    EROFS(30),
    /// A result is out of range.
    ERANGE(34),
    /// The kernel or driver does not have this call.
    ENOSYS(38),
    /// No data available, for example because an entry of a table is empty.
    ENODATA(61),
    /// Protocol error.
    EPROTO(71),
    /// A value is too large for its type.
    EOVERFLOW(75),
    /// A message is too long.
    EMSGSIZE(90),
    /// The protocol is not supported.
    EPROTONOSUPPORT(93),
    /// Not supported by this device.
    EOPNOTSUPP(95),
    /// The address family is not supported.
    EAFNOSUPPORT(97),
    /// The address is in use.
    EADDRINUSE(98),
    /// The address is not one of this machine or device.
    EADDRNOTAVAIL(99),
    /// The network is down.
    ENETDOWN(100),
    /// The network cannot be reached.
    ENETUNREACH(101),
    /// The connection was aborted.
    ECONNABORTED(103),
    /// Connection reset by peer.
    ECONNRESET(104),
    /// There is no buffer left.
    ENOBUFS(105),
    /// Already connected.
    EISCONN(106),
    /// Not connected.
    ENOTCONN(107),
    /// The endpoint has been shut down.
    ESHUTDOWN(108),
    /// The operation timed out.
    ETIMEDOUT(110),
    /// Connection refused.
    ECONNREFUSED(111),
    /// No route to the host.
    EHOSTUNREACH(113),
    /// The operation is already in progress.
    EALREADY(114),
    /// The operation is in progress.
    EINPROGRESS(115),
    /// A quota is used up.
    EDQUOT(122),
    /// The operation was canceled.
    ECANCELED(125),
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
