package io.rdmacomm.tests.steps;

/// What happens to the doomed process after its step, and what the survivor does about it.
enum Fate {
    /// The process is killed. The survivor's work ends.
    KILLED,
    /// The process is stopped. The survivor closes its objects and makes new ones, and the process goes on.
    STOPPED_AND_LEFT,
    /// The process is stopped, the survivor's queue pair fails, and the process goes on.
    STOPPED_AND_CONTINUED,
    /// The process is stopped, the survivor's queue pair fails, and the process is killed.
    STOPPED_AND_KILLED;

    private static final int SIGKILL = 9;
    private static final int SIGSTOP = 19;

    int signal() {
        return this == KILLED ? SIGKILL : SIGSTOP;
    }

    /// Whether the process ends.
    boolean isDeath() {
        return this == KILLED || this == STOPPED_AND_KILLED;
    }
}
