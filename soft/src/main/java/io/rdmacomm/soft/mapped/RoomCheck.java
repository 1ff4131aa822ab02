package io.rdmacomm.soft.mapped;

import io.rdmacomm.verbs.statistics.MemoryRoom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Checks that there is room for a file before it is written, because the kernel ends programs when no memory is left.
///
/// Reading how much is left takes the kernel and this process about a millisecond. So a check that finds much room also
/// admits small files after it, for a second, up to a small share of that room. Thread-safe.
class RoomCheck {
    private static final long VALID_NANOS = 1_000_000_000;
    private static final int SHARE = 256;

    private @Nullable Path checked;
    private long validUntil;
    private long allowance;

    /// Admits a file of `bytes` bytes.
    ///
    /// @param file exists, and is empty
    /// @throws IOException if there is no room
    synchronized void admit(Path file, long bytes) throws IOException {
        // Each context has a folder of its own.
        Path folders = file.resolve("../..").normalize();
        boolean known = folders.equals(checked) && validUntil - System.nanoTime() > 0 && bytes <= allowance;
        if (known) {
            allowance -= bytes;
            return;
        }
        // In case there is no room.
        allowance = 0;
        allowance = (left(file, bytes) - bytes) / SHARE;
        validUntil = System.nanoTime() + VALID_NANOS;
        checked = folders;
    }

    /// Reads how much is left, which is at least `bytes`.
    ///
    /// @throws IOException if there is less
    long left(Path file, long bytes) throws IOException {
        long free = file.toFile().getUsableSpace();
        if (bytes > free) {
            throw new IOException("No space left: " + bytes + " bytes do not fit into the " + free + " that "
                    + file.getParent() + " has left");
        }
        if (!isInMemory(file)) {
            return free;
        }
        MemoryRoom room = MemoryRoom.left();
        checkMemory(bytes, room);
        return Math.min(free, room.bytes());
    }

    private static boolean isInMemory(Path file) {
        try {
            return Files.getFileStore(file).type().equals("tmpfs");
        } catch (IOException e) {
            // Linux lists the file systems in /proc.
            return false;
        }
    }

    static void checkMemory(long bytes, MemoryRoom room) throws IOException {
        if (bytes > room.bytes()) {
            throw new NoRoomException(
                    bytes + " bytes do not fit into the " + room.bytes() + " that " + room.owner() + " has left",
                    room.isOfGroup()
                            ? "raise the memory limit of this container or service (docker run --memory=...,"
                                    + " resources.limits.memory of a pod, MemoryMax= of systemd)"
                            : "end other programs, or use less memory");
        }
    }
}
