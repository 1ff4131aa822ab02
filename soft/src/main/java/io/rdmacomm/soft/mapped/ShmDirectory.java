package io.rdmacomm.soft.mapped;

import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/// The folder of one open context in the host's shared memory: `rdmacomm-UID/LID/` with mode 0700, its files
/// 0600.
///
/// Its LID is the folder's name, so two contexts of a user never have the same. The owner holds a lock on the
/// file `lock` for as long as it lives; a folder whose lock can be taken belongs to a process that is gone, and
/// the next context that opens removes it.
public final class ShmDirectory implements AutoCloseable {
    private static final FileAttribute<Set<PosixFilePermission>> FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final Set<StandardOpenOption> NEW_FILE =
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final SafeLogger LOGGER = SafeLogger.of(ShmDirectory.class);
    private static final String LOCK = "lock";
    private static final long FRESH_MILLIS = 60_000;
    private static final int MOST_TRIES = 1000;
    /// Of st_mode (inode(7)).
    private static final int KIND_AND_RIGHTS = 0170777;

    /// S_IFDIR with mode 0700.
    private static final int CLOSED_FOLDER = 0040700;

    private static final int FIRST_LID = 0x4000;
    private static final int LAST_LID = 0xfffe;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(ShmDirectory::removeAtExit, "rdmacomm-soft-clean-up"));
    }

    private final Path folder;
    private final int lid;
    private final FileChannel lockFile;
    private final FileLock lock;

    private ShmDirectory(Path folder, int lid, FileChannel lockFile, FileLock lock) {
        this.folder = folder;
        this.lid = lid;
        this.lockFile = lockFile;
        this.lock = lock;
    }

    /// The folder of all contexts of this user.
    public static Path root() {
        return base().resolve("rdmacomm-" + user());
    }

    private static Path base() {
        return Path.of(System.getProperty("rdmacomm.soft.directory", "/dev/shm"));
    }

    /// The number of this process' user, which the kernel shows as the owner of its own entry in `/proc`.
    private static Object user() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return System.getProperty("user.name", "user");
        }
    }

    /// The folder of the context with this LID.
    public static Path folder(int lid) {
        return root().resolve(Integer.toString(lid));
    }

    /// Removes what dead processes left behind, then claims a folder with a free LID.
    ///
    /// @throws IOException if the folder cannot be made, or one of that name belongs to another user
    public static ShmDirectory claim() throws IOException {
        // Its one true name, by which own folders are known.
        Path root = base().toRealPath().resolve(root().getFileName());
        makeRoot(root);
        removeDead(root);
        int lid = ThreadLocalRandom.current().nextInt(FIRST_LID, LAST_LID + 1);
        for (int tries = FIRST_LID; tries <= LAST_LID; tries++) {
            Path folder = root.resolve(Integer.toString(lid));
            try {
                Files.createDirectory(folder, FOLDER);
                return lock(folder, lid);
            } catch (FileAlreadyExistsException e) {
                lid = lid == LAST_LID ? FIRST_LID : lid + 1;
            } catch (NoSuchFileException e) {
                // The last context to close has just removed the root.
                makeRoot(root);
            }
        }
        throw new IOException("all LIDs are in use in " + root);
    }

    private static void makeRoot(Path root) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                Files.createDirectory(root, FOLDER);
                return;
            } catch (FileAlreadyExistsException e) {
                if (isOwn(root, tries == MOST_TRIES)) {
                    return;
                }
            }
        }
    }

    /// Whether the root exists and belongs to this user; the last context to close may just have removed it.
    ///
    /// @param last whether its absence is an error
    private static boolean isOwn(Path root, boolean last) throws IOException {
        try {
            checkOwner(root);
            return true;
        } catch (NoSuchFileException e) {
            if (last) {
                throw e;
            }
            return false;
        }
    }

    /// Locks the folder. The lock file gets its name when it is locked, so that nobody takes it for a dead
    /// owner's.
    private static ShmDirectory lock(Path folder, int lid) throws IOException {
        OwnFolders.add(folder);
        FileChannel channel = FileChannel.open(folder.resolve("lock.new"), NEW_FILE, FILE);
        try {
            FileLock lock = channel.lock();
            Files.move(folder.resolve("lock.new"), folder.resolve(LOCK), StandardCopyOption.ATOMIC_MOVE);
            return new ShmDirectory(folder, lid, channel, lock);
        } catch (IOException | RuntimeException e) {
            OwnFolders.remove(folder);
            channel.close();
            throw e;
        }
    }

    /// A folder that somebody else made could be used to feed this process data.
    private static void checkOwner(Path root) throws IOException {
        // Asked for together: it may go at any moment.
        Map<String, Object> found = Files.readAttributes(root, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
        boolean mine = user().equals(found.get("uid"));
        boolean closed = found.get("mode") instanceof Integer mode && (mode & KIND_AND_RIGHTS) == CLOSED_FOLDER;
        if (!mine || !closed) {
            throw new IOException(root + " is not a folder of this user with mode 0700; remove it");
        }
    }

    private static void removeDead(Path root) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(root)) {
            for (Path folder : folders) {
                // Even opening and closing the lock file of an own folder would release its lock (fcntl(2)).
                if (!OwnFolders.contains(folder) && isDead(folder)) {
                    removeLeftover(folder);
                }
            }
        } catch (NoSuchFileException e) {
            LOGGER.log(System.Logger.Level.TRACE, "the last one to leave {0} has removed it", root);
        }
    }

    /// Whether the process that had the context with this LID has ended, or has closed it.
    public static boolean isGone(int lid) {
        Path folder = folder(lid);
        return !Files.exists(folder) || (!OwnFolders.contains(folder) && isDead(folder));
    }

    /// Whether no process holds the folder's lock. A folder that is being made has no lock file yet; it is left
    /// alone for a minute.
    private static boolean isDead(Path folder) {
        try (FileChannel channel = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.WRITE)) {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (NoSuchFileException e) {
            return isOld(folder);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isOld(Path folder) {
        try {
            FileTime changed = Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS);
            return System.currentTimeMillis() - changed.toMillis() > FRESH_MILLIS;
        } catch (IOException e) {
            return false;
        }
    }

    private static void removeLeftover(Path folder) {
        try {
            remove(folder);
        } catch (IOException e) {
            // Another process that starts now removes it, too.
            LOGGER.log(System.Logger.Level.DEBUG, "removing the leftover " + folder, e);
        }
    }

    private static void remove(Path folder) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            return;
        }
        Files.deleteIfExists(folder);
    }

    /// The last to leave removes the root.
    private static void removeRootIfEmpty() throws IOException {
        try {
            Files.deleteIfExists(root());
        } catch (DirectoryNotEmptyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "other contexts are open in {0}", root());
        }
    }

    /// A program that ends without closing its contexts leaves nothing behind either, unless it is killed.
    private static void removeAtExit() {
        OwnFolders.all().forEach(ShmDirectory::removeLeftover);
        try {
            removeRootIfEmpty();
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "removing the root", e);
        }
    }

    /// The context's local identifier, which is the folder's name.
    public int lid() {
        return lid;
    }

    /// A file of this folder.
    public Path file(String name) {
        return folder.resolve(name);
    }

    /// Creates a file of this folder that only its owner may read and write.
    FileChannel create(String name) throws IOException {
        return FileChannel.open(folder.resolve(name), NEW_FILE, FILE);
    }

    /// Removes the folder and everything in it.
    @Override
    public void close() throws IOException {
        try {
            remove(folder);
            removeRootIfEmpty();
        } finally {
            OwnFolders.remove(folder);
            lock.release();
            lockFile.close();
        }
    }
}
