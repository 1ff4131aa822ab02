package io.rdmacomm.ibverbs.structs;

import io.rdmacomm.ibverbs.ffm.LibC;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;

/// Turns the errno of a C call into an exception with advice.
public final class IbvFailure {
    private IbvFailure() {}

    /// Checks the address that a creator returned.
    ///
    /// @param result an address, or minus the errno
    /// @throws VerbException the errno
    public static long address(String operation, long result, String subject) {
        if (result > 0) {
            return result;
        }
        throw of(operation, (int) -result, subject);
    }

    /// Checks the result of a call.
    ///
    /// @param errno 0 or the errno
    /// @throws VerbException the errno
    public static void check(String operation, int errno, String subject) {
        if (errno != 0) {
            throw of(operation, errno, subject);
        }
    }

    /// Checks the result of a call that only some devices support.
    ///
    /// @param device the name of the device
    /// @throws UnsupportedVerbException if this device does not
    /// @throws VerbException the errno
    public static void check(String operation, int errno, Capability capability, String device) {
        check(operation, errno, capability, device, device);
    }

    /// The same for an object of the device.
    ///
    /// @param device the name of the device
    /// @param subject the object and the intended change
    /// @throws UnsupportedVerbException if this device does not
    /// @throws VerbException the errno
    public static void check(String operation, int errno, Capability capability, String device, String subject) {
        if (errno == LibCLayout.EOPNOTSUPP || errno == LibCLayout.ENOSYS) {
            throw new UnsupportedVerbException(operation, capability, device);
        }
        check(operation, errno, subject);
    }

    /// Checks a port number. In C it is one byte, so a larger number would silently name another port.
    public static void checkByte(String operation, int port, String subject) {
        if (port < 1 || port > 255) {
            throw new VerbException(operation, Errno.EINVAL, subject);
        }
    }

    /// The exception for an errno.
    public static VerbException of(String operation, int errno, String subject) {
        Errno known = Errno.of(errno);
        return new VerbException(operation, known, subject + hint(known, errno));
    }

    private static String hint(Errno known, int errno) {
        return switch (known) {
            case EACCES, EPERM ->
                ": no permission; see `ls -l /dev/infiniband`, join the group of the file or run as root";
            case EBUSY -> " is in use; first close what uses it";
            case ENODEV, EIO -> ": the device does not answer; it may have been removed, see `rdma link`";
            case EFAULT ->
                ": not all of this memory is mapped for writing, which drivers need even if no access right is given;"
                        + " map it for reading and writing, or register a copy. Since Linux 6.5 a file on a disk cannot be"
                        + " registered for writing: map it without LOCAL_WRITE, or copy it to /dev/shm";
            case ENODATA -> ": the entry is empty; an address of the network interface makes one";
            case ENOMEM -> ": the device or the system has no memory for it";
            case EAGAIN ->
                ": the kernel refuses more of them for now; if it stays so, it is limited by rdma.max of the control group,"
                        + " see `rdmacomm doctor`";
            case UNKNOWN -> ": errno " + errno;
            default -> "";
        };
    }

    /// Checks the address of a new object with locked memory, such as the queues of most adapters.
    ///
    /// @param result an address, or minus the errno
    /// @throws VerbException the errno
    public static long lockedAddress(String operation, long result, String subject) {
        if (result > 0) {
            return result;
        }
        throw ofLocking(operation, (int) -result, subject);
    }

    /// The exception for memory that could not be registered.
    ///
    /// @param device the name of the device
    public static VerbException ofRegistration(String operation, int errno, long bytes, String device) {
        return ofLocking(operation, errno, bytes + " bytes on " + device);
    }

    /// A lack of memory nearly always means that the limit of locked memory is too low.
    private static VerbException ofLocking(String operation, int errno, String subject) {
        long limit = LibC.lockedMemoryLimit();
        if (Errno.of(errno) != Errno.ENOMEM || limit < 0) {
            return of(operation, errno, subject);
        }
        return new VerbException(
                operation,
                Errno.ENOMEM,
                subject + ": this process may lock " + limit / 1024 + " KiB in memory (RLIMIT_MEMLOCK); raise it with"
                        + " `ulimit -l unlimited`, memlock in /etc/security/limits.conf, LimitMEMLOCK= of the service or"
                        + " --ulimit memlock=-1 of the container");
    }
}
