package io.rdmacomm.tests.steps;

/// What happens to the doomed process after its step, and what the survivor does about it.
enum PeerFault {
    /// The process is killed. The survivor's work ends.
    KILLED,
    /// The process is stopped. The survivor closes its objects and makes new ones, and the process goes on.
    STOPPED_AND_LEFT,
    /// The process is stopped, the survivor's queue pair fails, and the process goes on.
    STOPPED_AND_CONTINUED,
    /// The process is stopped, its connection with the survivor's process ends, and the process goes on: the end of a
    /// connection is not the end of a process. In shared memory only; over TCP the connection is the link.
    STOPPED_AND_PARTED,
    /// The process is stopped, the survivor's queue pair fails, and the process is killed.
    STOPPED_AND_KILLED;

    private static final int SIGKILL = 9;
    private static final int SIGSTOP = 19;

    int signal() {
        return this == KILLED ? SIGKILL : SIGSTOP;
    }

    /// Whether it can happen to processes that share memory, or that do not.
    boolean existsWith(boolean sharedMemory) {
        return sharedMemory || this != STOPPED_AND_PARTED;
    }

    /// Whether the process ends.
    boolean isDeath() {
        return this == KILLED || this == STOPPED_AND_KILLED;
    }
}
