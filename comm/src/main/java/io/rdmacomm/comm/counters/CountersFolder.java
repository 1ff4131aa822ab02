package io.rdmacomm.comm.counters;

import io.rdmacomm.comm.text.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The folder of a user's counters files: `rdmacomm-counters-UID` with mode 0700 in `/dev/shm`, or in `java.io.tmpdir`
/// where that does not exist, or where the system property `rdmacomm.counters.directory` says. The last process to
/// leave
/// removes it.
///
/// A file belongs to one process. The files of dead processes are removed by whoever sees them.
public final class CountersFolder {
    /// The system property for the folder that contains it.
    public static final String PROPERTY = "rdmacomm.counters.directory";

    static final FileAttribute<Set<PosixFilePermission>> FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final System.Logger LOGGER = System.getLogger("io.rdmacomm.comm");
    private static final String SUFFIX = ".counters";
    private static final int MOST_TRIES = 100;
    private static final int MOST_FILES = 4096;
    /// A file may be rewritten while it is read.
    private static final int READ_TRIES = 10;
    /// A process that lives writes every second, unless it is stopped.
    private static final long FORGOTTEN_MILLIS = 3_600_000;
    /// Of st_mode (inode(7)).
    private static final int KIND_AND_RIGHTS = 0170777;
    /// S_IFDIR with mode 0700.
    private static final int CLOSED_FOLDER = 0040700;

    private final Path path;

    CountersFolder(Path path) {
        this.path = path;
    }

    /// The folder of this user.
    public static CountersFolder ofUser() {
        String chosen = System.getProperty(PROPERTY, "");
        Path memory = Path.of("/dev/shm");
        Path base = !chosen.isEmpty()
                ? Path.of(chosen)
                : Files.isWritable(memory) ? memory : Path.of(System.getProperty("java.io.tmpdir"));
        return new CountersFolder(base.resolve("rdmacomm-counters-" + user()));
    }

    /// The number of this process' user, which the kernel shows as the owner of its own entry in `/proc`.
    private static Object user() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return System.getProperty("user.name", "user");
        }
    }

    /// Where it is; it may not exist.
    public Path path() {
        return path;
    }

    /// The counters files of a folder.
    ///
    /// @param processes the processes that live
    /// @param problems the files that could not be read, and why
    public record Content(List<ProcessRecord> processes, List<String> problems) {}

    /// Reads all files, and removes those of dead processes.
    ///
    /// @throws IOException if the folder is not this user's own with mode 0700, or cannot be read
    public Content read() throws IOException {
        List<ProcessRecord> processes = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        ProcessIdentity own = ProcessIdentity.own();
        for (Path file : files()) {
            try {
                ProcessRecord process = readFile(file);
                if (process.process().isDead(own)) {
                    remove(file);
                } else {
                    processes.add(process);
                }
            } catch (NoSuchFileException e) {
                LOGGER.log(System.Logger.Level.TRACE, "{0}: its process has just ended", file);
            } catch (IOException e) {
                if (isForgotten(file)) {
                    remove(file);
                } else {
                    problems.add(Printable.text(file + ": " + e.getMessage()));
                }
            }
        }
        return new Content(List.copyOf(processes), List.copyOf(problems));
    }

    private List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        try {
            checkOwner();
            try (DirectoryStream<Path> found = Files.newDirectoryStream(path, "*" + SUFFIX)) {
                for (Path file : found) {
                    if (files.size() == MOST_FILES) {
                        break;
                    }
                    files.add(file);
                }
            }
        } catch (NoSuchFileException e) {
            // Nobody publishes, or the last process to leave has just removed it.
            files.clear();
        } catch (DirectoryIteratorException e) {
            throw new IOException(e.getMessage(), e);
        }
        files.sort(null);
        return files;
    }

    /// A folder that somebody else made could be used to feed this process data.
    private void checkOwner() throws IOException {
        Map<String, Object> found;
        try {
            found = Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            throw new IOException("the owner of " + path + " cannot be determined on this system", e);
        }
        boolean closed = found.get("mode") instanceof Integer mode && (mode & KIND_AND_RIGHTS) == CLOSED_FOLDER;
        if (!user().equals(found.get("uid")) || !closed) {
            throw new IOException(path + " is not a folder of this user with mode 0700; remove it");
        }
    }

    private static ProcessRecord readFile(Path file) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                return CountersCodec.decode(content(file));
            } catch (MalformedCountersException e) {
                if (tries == READ_TRIES) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    /// Reads a file without mapping it: its owner may cut it at any moment. Opening a pipe would block.
    private static byte[] content(Path file) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                    ? new IOException("not a regular file")
                    : new NoSuchFileException(file.toString());
        }
        try (InputStream in = Files.newInputStream(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            byte[] content = in.readNBytes(CountersLayout.MOST_BYTES + 1);
            if (content.length > CountersLayout.MOST_BYTES) {
                throw new MalformedCountersException("longer than a counters file");
            }
            return content;
        }
    }

    private static boolean isForgotten(Path file) {
        try {
            long changed =
                    Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toMillis();
            return System.currentTimeMillis() - changed > FORGOTTEN_MILLIS;
        } catch (IOException e) {
            return false;
        }
    }

    private static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "removing the leftover " + file, e);
        }
    }

    /// Creates a file for a process, after removing those of dead ones. Only this user may read and write it.
    ///
    /// @throws IOException if the folder or the file cannot be made, or the folder is another user's
    Path create(ProcessIdentity process) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                make();
                var _ = read();
                Path file = path.resolve(process.pid() + "-" + Long.toHexString(System.nanoTime()) + SUFFIX);
                return Files.createFile(file, FILE);
            } catch (NoSuchFileException e) {
                // The last process to leave has just removed the folder.
                if (tries == MOST_TRIES) {
                    throw e;
                }
            } catch (UnsupportedOperationException e) {
                throw new IOException("files for this user alone cannot be made on this system", e);
            }
        }
    }

    private void make() throws IOException {
        try {
            Files.createDirectory(path, FOLDER);
        } catch (FileAlreadyExistsException e) {
            checkOwner();
        }
    }

    /// Removes the file of this process, and the folder if it is empty.
    void delete(Path file) {
        remove(file);
        try {
            Files.deleteIfExists(path);
        } catch (DirectoryNotEmptyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "other processes use {0}", path);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "removing " + path, e);
        }
    }
}
