package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.Errno;

/// A port that the kernel's connection manager chose. On iWARP it is a TCP port, but the manager does not check
/// whether a socket uses it. So the driver may fail to bind or connect its own socket; a new identifier then gets
/// another port.
final class ChosenPort {
    /// The number of ports to try. Even if sockets use half of all ports, less than one call in a billion fails.
    static final int TRIES = 32;

    private ChosenPort() {}

    /// Whether a call failed with this errno because a socket uses the port (EADDRINUSE), or used it with the same peer
    /// until a moment ago (EADDRNOTAVAIL, tcp(7)).
    static boolean isTaken(int errno) {
        Errno known = Errno.of(errno);
        return known == Errno.EADDRINUSE || known == Errno.EADDRNOTAVAIL;
    }
}
