package io.rdmacomm.soft.shm;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/// The folder of one open context in the host's shared memory: `rdmacomm-USER/LID/` with mode 0700, its files
/// 0600.
///
/// Its LID is the folder's name, so two contexts of a user never have the same. The owner holds a lock on the
/// file `lock` for as long as it lives; a folder whose lock can be taken belongs to a process that is gone, and
/// the next context that opens removes it.
public final class ShmDirectory implements AutoCloseable {
    private static final Set<PosixFilePermission> FOLDER_MODE = PosixFilePermissions.fromString("rwx------");
    private static final FileAttribute<Set<PosixFilePermission>> FOLDER =
            PosixFilePermissions.asFileAttribute(FOLDER_MODE);
    private static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final int FIRST_LID = 0x4000;
    private static final int LAST_LID = 0xfffe;

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
        String base = System.getProperty("rdmacomm.soft.directory", "/dev/shm");
        return Path.of(base, "rdmacomm-" + System.getProperty("user.name", "user"));
    }

    /// The folder of the context with this LID.
    public static Path folder(int lid) {
        return root().resolve(Integer.toString(lid));
    }

    /// Removes what dead processes left behind, then claims a folder with a free LID.
    ///
    /// @throws IOException if the folder cannot be made, or one of that name belongs to another user
    public static ShmDirectory claim() throws IOException {
        Path root = root();
        try {
            Files.createDirectory(root, FOLDER);
        } catch (FileAlreadyExistsException e) {
            checkOwner(root);
        }
        removeDead(root);
        int lid = ThreadLocalRandom.current().nextInt(FIRST_LID, LAST_LID + 1);
        for (int tries = FIRST_LID; tries <= LAST_LID; tries++) {
            Path folder = root.resolve(Integer.toString(lid));
            try {
                Files.createDirectory(folder, FOLDER);
                return lock(folder, lid);
            } catch (FileAlreadyExistsException e) {
                lid = lid == LAST_LID ? FIRST_LID : lid + 1;
            }
        }
        throw new IOException("all LIDs are in use in " + root);
    }

    private static ShmDirectory lock(Path folder, int lid) throws IOException {
        FileChannel channel = FileChannel.open(
                folder.resolve("lock"),
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                FILE);
        try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                throw new IOException(folder + " is being removed by another process");
            }
            return new ShmDirectory(folder, lid, channel, lock);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// A folder that somebody else made could be used to feed this process data.
    private static void checkOwner(Path root) throws IOException {
        String owner = Files.getOwner(root, LinkOption.NOFOLLOW_LINKS).getName();
        boolean mine = owner.equals(System.getProperty("user.name"));
        boolean closed =
                Files.getPosixFilePermissions(root, LinkOption.NOFOLLOW_LINKS).equals(FOLDER_MODE);
        if (!mine || !closed || !Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(root + " is not a folder of this user with mode 0700; remove it");
        }
    }

    private static void removeDead(Path root) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(root)) {
            for (Path folder : folders) {
                if (isDead(folder)) {
                    remove(folder);
                }
            }
        }
    }

    /// Whether no process holds the folder's lock. A folder that is being made has no lock file yet and is left
    /// alone for a minute.
    private static boolean isDead(Path folder) {
        try (FileChannel channel =
                FileChannel.open(folder.resolve("lock"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            FileLock lock = channel.tryLock();
            return lock != null;
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
            long age = System.currentTimeMillis()
                    - Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS)
                            .toMillis();
            return age > 60_000;
        } catch (IOException e) {
            return false;
        }
    }

    private static void remove(Path folder) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(folder);
        } catch (NoSuchFileException e) {
            // Another process that starts now removes it too.
            return;
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
        return FileChannel.open(
                folder.resolve(name),
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                FILE);
    }

    /// Removes the folder and everything in it.
    @Override
    public void close() throws IOException {
        try {
            remove(folder);
        } finally {
            lock.release();
            lockFile.close();
        }
    }
}
