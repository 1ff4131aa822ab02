package io.rdmacomm.ibverbs.ffm;

/// Byte offsets and numbers of the C library: `struct pollfd` (poll(2)), `struct rlimit` (getrlimit(2)) and
/// flags.
public final class LibCLayout {
    private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");

    /// Size of a `pthread_mutex_t`: the only type in the structs of libibverbs whose size differs between the
    /// architectures that the JVM has.
    public static final int MUTEX_BYTES = System.getProperty("os.arch").equals("aarch64") ? 48 : 40;

    /// Size of a `struct pollfd`.
    public static final int POLL_BYTES = 8;
    /// In a `struct pollfd`: the file descriptor.
    public static final int POLL_FILE = 0;
    /// In a `struct pollfd`: the events to wait for, 2 bytes.
    public static final int POLL_EVENTS = 4;
    /// In a `struct pollfd`: the events that occurred, 2 bytes.
    public static final int POLL_RESULT = 6;
    /// There is something to read.
    public static final int POLL_IN = 1;

    /// Size of a `struct epoll_event` (epoll_ctl(2)), which is packed on x86-64 alone.
    public static final int POLL_SET_BYTES = PACKED ? 12 : 16;
    /// In a `struct epoll_event`: the events to wait for, 4 bytes.
    public static final int POLL_SET_EVENTS = 0;
    /// In a `struct epoll_event`: the value that identifies the file, 8 bytes.
    public static final int POLL_SET_VALUE = PACKED ? 4 : 8;
    /// epoll_ctl(2): add a file.
    public static final int POLL_SET_ADD = 1;
    /// epoll_ctl(2): remove a file.
    public static final int POLL_SET_REMOVE = 2;

    /// Size of a `struct rlimit`.
    public static final int LIMIT_BYTES = 16;
    /// In a `struct rlimit`: the enforced limit, 8 bytes.
    public static final int LIMIT_CURRENT = 0;
    /// The resource `RLIMIT_MEMLOCK`.
    public static final int LIMIT_LOCKED_MEMORY = 8;

    /// fcntl(2): read the flags of an open file.
    public static final int GET_FLAGS = 3;
    /// fcntl(2): set the flags of an open file.
    public static final int SET_FLAGS = 4;
    /// Flag of an open file: reading does not wait.
    public static final int NON_BLOCKING = 0x800;
    /// eventfd(2), epoll_create1(2): the file descriptor is closed when another program is started.
    public static final int CLOSE_ON_EXEC = 0x80000;

    /// mmap(2): memory that can be read.
    public static final int PROTECTION_READ = 1;
    /// mmap(2): memory that can be written.
    public static final int PROTECTION_WRITE = 2;
    /// mmap(2): memory of this process alone.
    public static final int MAP_PRIVATE = 2;
    /// mmap(2): replace the mapping at the address.
    public static final int MAP_FIXED = 0x10;
    /// mmap(2): memory without a file.
    public static final int MAP_ANONYMOUS = 0x20;
    /// mmap(2): memory in huge pages.
    public static final int MAP_HUGE = 0x40000;
    /// mmap(2): no memory is reserved before it is used.
    public static final int MAP_WITHOUT_RESERVE = 0x4000;

    /// errno: interrupted by a signal.
    public static final int EINTR = 4;
    /// errno: nothing is available now.
    public static final int EAGAIN = 11;
    /// errno: there is not enough memory.
    public static final int ENOMEM = 12;
    /// errno: an argument is wrong.
    public static final int EINVAL = 22;
    /// errno: the kernel does not have this call.
    public static final int ENOSYS = 38;
    /// errno: the kernel does not have this call for this device.
    public static final int EPROTONOSUPPORT = 93;
    /// errno: the device does not have this call.
    public static final int EOPNOTSUPP = 95;

    private LibCLayout() {}
}
