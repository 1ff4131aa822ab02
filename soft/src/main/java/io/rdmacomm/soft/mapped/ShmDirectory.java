package io.rdmacomm.soft.mapped;

import io.rdmacomm.verbs.service.ExitHook;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.UserFolders;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/// The folder of one open context in the host's shared memory: `rdmacomm-UID/LID/` with mode 0700, its files
/// 0600. The first part is the root, one of the [UserFolders] of this user, who may have several.
///
/// Its LID is the folder's name, so two contexts of a user never have the same. The owner holds a lock on the file
/// `lock` for as long as it lives; a folder whose lock can be taken belongs to a process that is gone, and the next
/// context that opens removes it. A folder has another name while it is being made or removed, so that no process
/// finds it unlocked under its LID.
public final class ShmDirectory implements AutoCloseable {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final FileAttribute<Set<PosixFilePermission>> FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final Set<StandardOpenOption> NEW_FILE =
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final SafeLogger LOGGER = SafeLogger.of(ShmDirectory.class);
    private static final String LOCK = "lock";
    private static final String HIDDEN = "new-";
    private static final long FRESH_NANOS = 60_000_000_000L;
    private static final int MOST_TRIES = 1000;

    private static final int FIRST_LID = 0x4000;
    private static final int LAST_LID = 0xfffe;

    static {
        // Peers regard a process as dead when its folder is gone.
        ExitHook.afterwards(ShmDirectory::removeAtExit);
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

    /// The folder for shared memory of all users: `/dev/shm`, or the folder for temporary files on a system without
    /// it.
    public static Path base() {
        String chosen = System.getProperty("rdmacomm.soft.directory");
        if (chosen != null) {
            return Path.of(chosen);
        }
        return Files.isDirectory(SHARED_MEMORY) ? SHARED_MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
    }

    private static UserFolders roots() {
        return new UserFolders(base(), "rdmacomm");
    }

    /// The folder of the context of this user with this LID, in any root.
    ///
    /// @throws NoSuchFileException if there is none
    public static Path folder(int lid) throws IOException {
        String name = Integer.toString(lid);
        for (Path root : roots().all()) {
            Path folder = root.resolve(name);
            if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                return folder;
            }
        }
        throw new NoSuchFileException(base() + ": no context with LID " + lid);
    }

    /// Removes what dead processes left behind, then claims a folder with a free LID.
    ///
    /// @throws IOException if the folder cannot be made
    public static ShmDirectory claim() throws IOException {
        List<Path> own = roots().all();
        for (Path root : own) {
            removeDead(root, own.size() > 1);
        }
        for (int tries = 1; ; tries++) {
            Path root = roots().make();
            try {
                return claimIn(root);
            } catch (NoSuchFileException e) {
                // The last context to close has just removed the root.
                if (tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    private static ShmDirectory claimIn(Path root) throws IOException {
        Path made = root.resolve(hiddenName());
        FileChannel channel = null;
        ShmDirectory claimed = null;
        OwnFolders.add(made);
        try {
            Files.createDirectory(made, FOLDER);
            if (!UserFolders.isOwn(root)) {
                throw new NoSuchFileException(root + " was removed, and another user has made it");
            }
            channel = FileChannel.open(made.resolve(LOCK), NEW_FILE, FILE);
            FileLock lock = channel.lock();
            int lid = name(made);
            claimed = new ShmDirectory(root.resolve(Integer.toString(lid)), lid, channel, lock);
            return claimed;
        } finally {
            OwnFolders.remove(made);
            if (claimed == null) {
                removeQuietly(made);
                if (channel != null) {
                    channel.close();
                }
            }
        }
    }

    /// Gives a folder that is locked the name of a free LID.
    private static int name(Path made) throws IOException {
        int lid = ThreadLocalRandom.current().nextInt(FIRST_LID, LAST_LID + 1);
        for (int tries = FIRST_LID; tries <= LAST_LID; tries++) {
            Path folder = made.resolveSibling(Integer.toString(lid));
            if (renamed(made, folder) && staysOnly(folder, made)) {
                return lid;
            }
            lid = lid == LAST_LID ? FIRST_LID : lid + 1;
        }
        throw new NoRoomException("all LIDs are in use in " + made.getParent(), "close other contexts");
    }

    private static boolean renamed(Path made, Path folder) throws IOException {
        if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        OwnFolders.add(folder);
        boolean done = false;
        try {
            // Fails if another process has just taken the name, as that folder contains a lock (rename(2)).
            Files.move(made, folder, StandardCopyOption.ATOMIC_MOVE);
            done = true;
        } catch (FileSystemException e) {
            if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        } finally {
            if (!done) {
                OwnFolders.remove(folder);
            }
        }
        return done;
    }

    /// Gives the folder its first name back if another root has this LID. If two contexts take a LID at the same
    /// time, at least one sees the other.
    private static boolean staysOnly(Path folder, Path made) throws IOException {
        boolean only = false;
        try {
            only = isOnly(folder);
            return only;
        } finally {
            if (!only) {
                Files.move(folder, made, StandardCopyOption.ATOMIC_MOVE);
                OwnFolders.remove(folder);
            }
        }
    }

    private static boolean isOnly(Path folder) throws IOException {
        for (Path root : roots().all()) {
            Path same = root.resolve(folder.getFileName());
            if (!same.equals(folder) && Files.exists(same)) {
                return false;
            }
        }
        return true;
    }

    /// A name that shows when it was chosen, by the monotonic clock, which is the same in all processes of a
    /// host.
    private static String hiddenName() {
        return HIDDEN + Long.toHexString(System.nanoTime()) + "-"
                + Long.toHexString(ThreadLocalRandom.current().nextLong());
    }

    /// @param several whether this user has another root
    private static void removeDead(Path root, boolean several) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(root)) {
            for (Path folder : folders) {
                // Even opening and closing the lock file of an own folder would release its lock (fcntl(2)).
                if (!OwnFolders.contains(folder) && isDead(folder)) {
                    removeQuietly(folder);
                }
            }
            if (several) {
                removeIfEmpty(root);
            }
        } catch (NoSuchFileException e) {
            LOGGER.log(System.Logger.Level.TRACE, "the last one to leave {0} has removed it", root);
        }
    }

    /// Whether the process that had the context with this LID has ended, or has closed it.
    public static boolean isGone(int lid) {
        try {
            Path folder = folder(lid);
            return !OwnFolders.contains(folder) && isDead(folder);
        } catch (NoSuchFileException e) {
            return true;
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "looking for the context with LID " + lid, e);
            return false;
        }
    }

    /// Whether no process holds the folder's lock. One that is being made may have no lock file yet.
    private static boolean isDead(Path folder) {
        Path file = folder.resolve(LOCK);
        try {
            return MappedFile.isPlain(file) && isFree(file);
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (NoSuchFileException e) {
            return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                    && !isFresh(folder.getFileName().toString());
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isFree(Path lock) throws IOException {
        try (FileChannel channel =
                FileChannel.open(lock, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            return channel.tryLock() != null;
        }
    }

    /// Whether this is a [#hiddenName] of the last minute.
    private static boolean isFresh(String name) {
        String[] parts = name.split("-", -1);
        if (!name.startsWith(HIDDEN) || parts.length != 3) {
            return false;
        }
        try {
            return Math.abs(System.nanoTime() - Long.parseUnsignedLong(parts[1], 16)) < FRESH_NANOS;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private static void removeQuietly(Path folder) {
        try {
            remove(folder);
        } catch (IOException e) {
            // Another process that starts now removes it, too.
            LOGGER.log(System.Logger.Level.DEBUG, "removing " + folder, e);
        }
    }

    private static void remove(Path folder) throws IOException {
        Path hidden = folder.resolveSibling(hiddenName());
        OwnFolders.add(hidden);
        try {
            Files.move(folder, hidden, StandardCopyOption.ATOMIC_MOVE);
            try (DirectoryStream<Path> files = Files.newDirectoryStream(hidden)) {
                for (Path file : files) {
                    Files.deleteIfExists(file);
                }
            }
            Files.deleteIfExists(hidden);
        } catch (NoSuchFileException e) {
            LOGGER.log(System.Logger.Level.TRACE, "{0} has just been removed", folder);
        } finally {
            OwnFolders.remove(hidden);
        }
    }

    /// The last to leave removes the root.
    private static void removeIfEmpty(Path root) throws IOException {
        try {
            Files.deleteIfExists(root);
        } catch (DirectoryNotEmptyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "other contexts are open in {0}", root);
        }
    }

    private static void removeRootOf(Path folder) throws IOException {
        Path root = folder.getParent();
        if (root != null) {
            removeIfEmpty(root);
        }
    }

    /// A program that ends without closing its contexts leaves nothing behind either, unless it is killed.
    private static void removeAtExit() {
        for (Path folder : OwnFolders.all()) {
            removeQuietly(folder);
            try {
                removeRootOf(folder);
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "removing the root of " + folder, e);
            }
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
            removeRootOf(folder);
        } finally {
            OwnFolders.remove(folder);
            lock.release();
            lockFile.close();
        }
    }
}
