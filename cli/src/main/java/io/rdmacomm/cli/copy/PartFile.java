package io.rdmacomm.cli.copy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// The temporary file that receives the data. It is locked while its receiver runs, so that the next receiver knows
/// which temporary files are left over.
///
/// @param path where it is
/// @param channel writes to it, and holds the lock
record PartFile(Path path, FileChannel channel) {
    /// The beginning of the names of all temporary files.
    static final String PREFIX = ".rdmacomm.";

    private static final String PART = ".part";
    private static final String RESUME = ".resume";
    private static final Duration KEPT = Duration.ofDays(7);
    private static final int ATTEMPTS = 100;
    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    /// Makes a new one in `folder`.
    static PartFile create(Path folder) throws IOException {
        for (int i = 0; i < ATTEMPTS; i++) {
            String random = Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX);
            PartFile part = open(folder.resolve(PREFIX + random + PART), StandardOpenOption.CREATE_NEW);
            if (part != null) {
                return part;
            }
        }
        throw new IOException("no temporary file can be made: another program removes them");
    }

    /// The path of the data of a transfer that can be resumed.
    ///
    /// @param key identifies the file
    static Path resumable(Path folder, String key) {
        return folder.resolve(PREFIX + key + RESUME);
    }

    /// Opens or makes the one at `path`.
    static PartFile resume(Path path) throws IOException {
        PartFile part = open(path, StandardOpenOption.CREATE);
        if (part == null) {
            throw new IOException("another receiver is receiving it");
        }
        return part;
    }

    /// Returns null if another receiver has created, locked or removed it.
    private static @Nullable PartFile open(Path path, OpenOption creation) throws IOException {
        FileChannel channel;
        try {
            channel = FileChannel.open(
                    path,
                    Set.of(creation, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                    PRIVATE);
        } catch (FileAlreadyExistsException e) {
            return null;
        } catch (UnsupportedOperationException e) {
            // The file system has no permissions.
            channel = FileChannel.open(
                    path, creation, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        }
        boolean kept = false;
        try {
            kept = lock(channel) != Lock.TAKEN && Files.exists(path, LinkOption.NOFOLLOW_LINKS);
            return kept ? new PartFile(path, channel) : null;
        } finally {
            if (!kept) {
                channel.close();
            }
        }
    }

    private enum Lock {
        OURS,
        TAKEN,
        /// The file system has no locks.
        UNKNOWN
    }

    private static Lock lock(FileChannel channel) {
        try {
            // The channel holds the lock until it is closed.
            FileLock lock = channel.tryLock();
            return lock == null ? Lock.TAKEN : Lock.OURS;
        } catch (OverlappingFileLockException _) {
            return Lock.TAKEN;
        } catch (IOException _) {
            return Lock.UNKNOWN;
        }
    }

    /// Removes the files of killed receivers, and those that have not been resumed in time.
    static void removeLeftovers(Path folder) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, PREFIX + "*")) {
            for (Path each : found) {
                String name = String.valueOf(each.getFileName());
                if (name.endsWith(PART) || (name.endsWith(RESUME) && isOld(each))) {
                    removeIfLeft(each);
                }
            }
        } catch (IOException _) {
            // They stay; the next receiver tries again.
        }
    }

    private static boolean isOld(Path path) throws IOException {
        return Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS)
                .toInstant()
                .isBefore(Instant.now().minus(KEPT));
    }

    private static void removeIfLeft(Path path) throws IOException {
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            if (lock(channel) == Lock.OURS) {
                Files.deleteIfExists(path);
            }
        } catch (NoSuchFileException _) {
            // Another receiver was faster.
        }
    }
}
