package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.Errno;

/// A port that the kernel's connection manager chose. On iWARP it is a TCP port, but the manager does not ask TCP
/// whether a socket uses it: that shows when the driver binds or connects its own socket. A new identifier gets another
/// port.
final class ChosenPort {
    /// The number of ports that are tried. Even if sockets use half of all ports, not one call in a billion fails.
    static final int TRIES = 32;

    private ChosenPort() {}

    /// Whether a call failed with this errno because a socket uses the port (EADDRINUSE), or used it with the same peer
    /// until a moment ago (EADDRNOTAVAIL, tcp(7)).
    static boolean isTaken(int errno) {
        Errno known = Errno.of(errno);
        return known == Errno.EADDRINUSE || known == Errno.EADDRNOTAVAIL;
    }
}
