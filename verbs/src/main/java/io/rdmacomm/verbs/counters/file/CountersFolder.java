package io.rdmacomm.verbs.counters.file;

import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.UserFolders;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// The folder of a user's counters files: `rdmacomm-counters-UID` with mode 0700 in `/dev/shm`, or in
/// `java.io.tmpdir` where that does not exist, or where the system property `rdmacomm.counters.directory`
/// says. If another user owns a folder of that name, it gets another one ([UserFolders]), and a reader
/// searches all folders of the user. The last process that uses it removes it.
///
/// A file belongs to one process. Every process that finds the file of a dead one removes it.
public final class CountersFolder {
    /// The system property for the directory that contains it.
    public static final String PROPERTY = "rdmacomm.counters.directory";

    private static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final SafeLogger LOGGER = SafeLogger.of("io.rdmacomm.verbs");
    private static final String SUFFIX = ".counters";
    private static final int MOST_TRIES = 100;
    private static final int MOST_FILES = 4096;

    private final Path base;
    private final UserFolders folders;

    /// @param base the directory that contains it
    public CountersFolder(Path base) {
        this.base = base;
        this.folders = new UserFolders(base, "rdmacomm-counters");
    }

    /// The folder of this user.
    public static CountersFolder ofUser() {
        return new CountersFolder(directory());
    }

    /// The directory that contains it, unless a program names another one.
    public static Path directory() {
        String chosen = System.getProperty(PROPERTY, "");
        Path memory = Path.of("/dev/shm");
        return !chosen.isEmpty()
                ? Path.of(chosen)
                : Files.isWritable(memory) ? memory : Path.of(System.getProperty("java.io.tmpdir"));
    }

    /// The directory that contains it.
    public Path base() {
        return base;
    }

    /// Its path, or its probable path if it does not exist yet.
    public Path path() {
        try {
            List<Path> own = folders.all();
            return own.isEmpty() ? folders.usual() : own.getFirst();
        } catch (IOException e) {
            return base;
        }
    }

    /// The counters files in all folders of the user, in the order of their paths; not more than 4096 of them.
    ///
    /// @throws IOException if the folder cannot be read
    public List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        try {
            for (Path folder : folders.all()) {
                addFiles(folder, files);
            }
        } catch (NoSuchFileException e) {
            LOGGER.log(System.Logger.Level.TRACE, "{0} does not exist", base);
        }
        files.sort(null);
        return files;
    }

    private static void addFiles(Path folder, List<Path> to) throws IOException {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
            for (Path file : found) {
                if (to.size() == MOST_FILES) {
                    break;
                }
                to.add(file);
            }
        } catch (NoSuchFileException e) {
            LOGGER.log(System.Logger.Level.TRACE, "the last process that used {0} has just removed it", folder);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /// Removes the file of a process that has ended.
    public static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "removing the leftover " + file, e);
        }
    }

    /// Creates a file that only this user can access.
    ///
    /// @param pid the number of its process
    /// @throws IOException if the folder or the file cannot be created
    public Path create(long pid) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                Path file = folders.make().resolve(pid + "-" + Long.toHexString(System.nanoTime()) + SUFFIX);
                return Files.createFile(file, FILE);
            } catch (NoSuchFileException e) {
                // The last process that used the folder has just removed it.
                if (tries == MOST_TRIES) {
                    throw e;
                }
            } catch (UnsupportedOperationException e) {
                throw new IOException("this system cannot create files that only this user can access", e);
            }
        }
    }

    /// Removes the file of this process, and the folder if it is empty.
    public void delete(Path file) {
        remove(file);
        try {
            Files.deleteIfExists(file.getParent());
        } catch (DirectoryNotEmptyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "other processes use the folder of {0}", file);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "removing the folder of " + file, e);
        }
    }
}
