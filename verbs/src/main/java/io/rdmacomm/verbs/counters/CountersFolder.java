package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.host.UserFolders;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.text.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
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
import java.util.Set;

/// The folder of a user's counters files: `rdmacomm-counters-UID` with mode 0700 in `/dev/shm`, or in
/// `java.io.tmpdir` where that does not exist, or where the system property `rdmacomm.counters.directory`
/// says. If another user owns a folder of that name, it gets another one ([UserFolders]), and a reader
/// searches all folders of the user. The last process that uses it removes it.
///
/// A file belongs to one process. Any process that finds the file of a dead process removes it.
public final class CountersFolder {
    /// The system property for the folder that contains it.
    public static final String PROPERTY = "rdmacomm.counters.directory";

    static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final SafeLogger LOGGER = SafeLogger.of("io.rdmacomm.verbs");
    private static final String SUFFIX = ".counters";
    private static final int MOST_TRIES = 100;
    private static final int MOST_FILES = 4096;
    /// Reads are repeated, because a file may be rewritten while it is read.
    private static final int READ_TRIES = 10;
    /// A live process writes every second, unless it is stopped.
    private static final long FORGOTTEN_MILLIS = 3_600_000;

    private final Path base;
    private final UserFolders folders;

    /// @param base the folder that contains it
    CountersFolder(Path base) {
        this.base = base;
        this.folders = new UserFolders(base, "rdmacomm-counters");
    }

    /// The folder of this user.
    public static CountersFolder ofUser() {
        String chosen = System.getProperty(PROPERTY, "");
        Path memory = Path.of("/dev/shm");
        return new CountersFolder(
                !chosen.isEmpty()
                        ? Path.of(chosen)
                        : Files.isWritable(memory) ? memory : Path.of(System.getProperty("java.io.tmpdir")));
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

    /// The counters files of a folder.
    ///
    /// @param processes the live processes
    /// @param problems the files that could not be read, and why
    public record Content(List<ProcessRecord> processes, List<String> problems) {}

    /// Reads all files, and removes those of dead processes.
    ///
    /// @throws IOException if the folder cannot be read
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

    /// Reads a file without mapping it: its owner may truncate it at any moment. Opening a pipe would block.
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

    /// Creates a file for a process, after removing those of dead processes. Only this user can access it.
    ///
    /// @throws IOException if the folder or the file cannot be created
    Path create(ProcessIdentity process) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                Path folder = folders.make();
                var _ = read();
                Path file = folder.resolve(process.pid() + "-" + Long.toHexString(System.nanoTime()) + SUFFIX);
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
    void delete(Path file) {
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
