package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.Errno;

/// A port that the kernel's connection manager chose. On iWARP it is a port of TCP, and the manager does not ask
/// TCP: whether a socket has it shows when the driver binds or connects its own. Another identifier gets another.
final class ChosenPort {
    /// How many ports are tried. Even where half of all have a socket, not one in a thousand million calls finds none.
    static final int TRIES = 32;

    private ChosenPort() {}

    /// Whether a call failed with this errno because a socket has the port (EADDRINUSE), or had it a moment ago, with
    /// the same peer (EADDRNOTAVAIL, tcp(7)).
    static boolean isTaken(int errno) {
        Errno known = Errno.of(errno);
        return known == Errno.EADDRINUSE || known == Errno.EADDRNOTAVAIL;
    }
}
