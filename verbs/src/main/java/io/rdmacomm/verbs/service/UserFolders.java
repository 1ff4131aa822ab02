package io.rdmacomm.verbs.service;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The folders of this user in a folder that all users share, such as `/dev/shm`. Thread-safe.
///
/// The first one is called `PREFIX-UID`. Other users can take that name: out of malice, or as root of a user
/// namespace, whose number is also 0. Then the folder gets a name with a random part, `PREFIX-UID-RANDOM`.
/// Hence a name proves nothing, and a user may have several folders. The kernel reports the owner of a
/// folder: processes of one user find each other even if a user namespace gives them different numbers.
public final class UserFolders {
    private static final Path PROCESS = Path.of("/proc/self");
    private static final String USER_NUMBER = "unix:uid";
    private static final Set<PosixFilePermission> CLOSED = PosixFilePermissions.fromString("rwx------");
    private static final int MOST_TRIES = 1000;

    /// A mask for st_mode (inode(7)).
    private static final int KIND_AND_RIGHTS = 0170777;

    /// S_IFDIR with mode 0700.
    private static final int CLOSED_FOLDER = 0040700;

    /// The reported owner of files whose user is unknown to the user namespace (user_namespaces(7),
    /// overflowuid).
    private static final Integer NOBODY = 65534;

    /// The owner of a file of this process, where there is no `/proc`.
    private static volatile @Nullable Object fileOwner;

    private final Path shared;
    private final String prefix;
    private final Pattern names;

    /// @param shared the folder that all users share
    /// @param prefix the beginning of the names
    public UserFolders(Path shared, String prefix) {
        this.shared = shared;
        this.prefix = prefix;
        this.names = Pattern.compile(Pattern.quote(prefix) + "-[0-9]+(-[0-9a-f]+)?");
    }

    /// The real paths of the folders of this user, in the order of their names. Folders of other users, with
    /// rights other than 0700, and links are excluded.
    ///
    /// @throws IOException if the shared folder cannot be read, or this user cannot be determined
    public List<Path> all() throws IOException {
        List<Path> own = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(shared.toRealPath(), this::isNamed)) {
            for (Path folder : found) {
                if (isOwn(folder)) {
                    own.add(folder);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        own.sort(null);
        return own;
    }

    private boolean isNamed(Path folder) {
        return names.matcher(folder.getFileName().toString()).matches();
    }

    /// The first folder of this user; created if there is none. Another process may remove it while it is empty.
    ///
    /// @throws IOException if none can be created
    public Path make() throws IOException {
        Path usual = usual();
        Path free = usual;
        for (int tries = 1; ; tries++) {
            List<Path> own = all();
            if (!own.isEmpty()) {
                return own.getFirst();
            }
            try {
                return Files.createDirectory(free, PosixFilePermissions.asFileAttribute(CLOSED));
            } catch (FileAlreadyExistsException e) {
                if (tries == MOST_TRIES) {
                    throw e;
                }
                free = usual.resolveSibling(usual.getFileName() + "-"
                        + Integer.toHexString(ThreadLocalRandom.current().nextInt()));
            }
        }
    }

    /// The real path of the first folder, unless another user has taken the name.
    ///
    /// @throws IOException if there is no shared folder, or this user cannot be determined
    public Path usual() throws IOException {
        return shared.toRealPath().resolve(prefix + "-" + user());
    }

    /// Whether a folder belongs to this user, is inaccessible to others, and is not a link. Data in any other
    /// folder could come from another user.
    ///
    /// @throws IOException if this user cannot be determined
    public static boolean isOwn(Path folder) throws IOException {
        try {
            // Read together, because the folder may disappear at any moment.
            Map<String, Object> found = Files.readAttributes(folder, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
            Object owner = found.get("uid");
            return user().equals(owner)
                    && found.get("mode") instanceof Integer mode
                    && (mode & KIND_AND_RIGHTS) == CLOSED_FOLDER
                    && (!NOBODY.equals(owner) || mayChange(folder));
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /// In a user namespace, all unknown users have the number of "nobody". If this process has it, too, only
    /// the kernel can distinguish them: it lets only the owner change the rights.
    private static boolean mayChange(Path folder) throws IOException {
        try {
            Files.getFileAttributeView(folder, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setPermissions(CLOSED);
            return true;
        } catch (NoSuchFileException e) {
            throw e;
        } catch (FileSystemException e) {
            return false;
        }
    }

    /// The number of the user of this process. Linux shows it as the owner of the process's own entry in `/proc`.
    /// Elsewhere it is the owner of a file that this process creates.
    private static Object user() throws IOException {
        Object known = fileOwner;
        if (known != null) {
            return known;
        }
        try {
            return Files.getAttribute(PROCESS, USER_NUMBER);
        } catch (NoSuchFileException e) {
            Path file = Files.createTempFile("rdmacomm", null);
            try {
                Object owner = Files.getAttribute(file, USER_NUMBER);
                fileOwner = owner;
                return owner;
            } finally {
                Files.delete(file);
            }
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            throw new IOException(
                    "this system has no user numbers, by which rdmacomm tells the files of others apart; run the program"
                            + " on Linux or macOS, or in WSL 2",
                    e);
        }
    }
}
