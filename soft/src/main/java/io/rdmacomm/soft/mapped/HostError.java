package io.rdmacomm.soft.mapped;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The errno of a failure that the host has caused, and the remedy for it.
///
/// @param errno what the call fails with
/// @param advice empty if there is none
public record HostError(Errno errno, String advice) {
    /// Translates an exception of files or sockets.
    ///
    /// @param noRoom the errno of the call when there is no room for what it makes
    public static HostError of(IOException cause, Errno noRoom) {
        if (cause instanceof NoRoomException full) {
            return new HostError(noRoom, full.advice());
        }
        if (cause instanceof AccessDeniedException) {
            return new HostError(Errno.EACCES, anotherFolder());
        }
        // Java gives the errno only in words (strerror(3)).
        String text = text(cause);
        if (text.contains("Too many open files in system")) {
            return new HostError(Errno.ENFILE, "raise the limit of the machine (sysctl fs.file-max)");
        }
        if (text.contains("Too many open files")) {
            return new HostError(
                    Errno.EMFILE,
                    "raise the limit of this process (ulimit -n, LimitNOFILE= of systemd, docker run --ulimit nofile=...)");
        }
        if (text.contains("No space left") || text.contains("quota exceeded")) {
            return new HostError(
                    noRoom,
                    "free some of " + ShmDirectory.base()
                            + ", enlarge it (mount -o remount,size=..., docker run --shm-size=...) or set"
                            + " -Drdmacomm.soft.directory");
        }
        if (text.contains("Cannot allocate memory") || text.contains("Map failed")) {
            return new HostError(
                    Errno.ENOMEM,
                    "free memory, or raise the limits of this process for mappings (sysctl vm.max_map_count, ulimit -v)");
        }
        if (text.contains("Address already in use")) {
            return new HostError(Errno.EADDRINUSE, "other programs have the ports of this device; stop some of them");
        }
        if (text.contains("Permission denied")) {
            return new HostError(Errno.EACCES, anotherFolder());
        }
        if (text.contains("Operation not permitted")) {
            return new HostError(Errno.EPERM, anotherFolder());
        }
        if (text.contains("Read-only file system")) {
            return new HostError(Errno.EROFS, anotherFolder());
        }
        return new HostError(Errno.EIO, "");
    }

    private static String anotherFolder() {
        Path base = ShmDirectory.base();
        return "let this user write to " + base + " (chmod 1777 " + base
                + "), or set -Drdmacomm.soft.directory to another folder in memory";
    }

    private static String text(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (@Nullable Throwable each = failure; each != null; each = each.getCause()) {
            text.append(each).append('\n');
        }
        return text.toString();
    }

    /// The failure of a call.
    ///
    /// @param operation the call in words, with its C name
    /// @param what happened, to which object
    public VerbException failure(String operation, String what, IOException cause) {
        String detail = what.isEmpty() ? String.valueOf(cause.getMessage()) : what + ": " + cause.getMessage();
        return new VerbException(operation, errno, advice.isEmpty() ? detail : detail + "; " + advice, cause);
    }
}
