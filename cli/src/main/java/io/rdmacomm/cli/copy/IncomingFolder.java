package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/// The directory that files are received into. A sender cannot write outside of it: a name is a single component,
/// never a path. An existing regular file of that name is replaced as a whole; anything else of that name is a reason
/// to reject the file.
public final class IncomingFolder implements AutoCloseable {
    private static final int MAX_NAME_BYTES = 255;

    private final Path folder;
    private final Set<IncomingFile> open = ConcurrentHashMap.newKeySet();

    /// @throws CommandFailure if `folder` is not a writable directory
    public IncomingFolder(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw new CommandFailure(folder + " is not a directory: create it first, with mkdir " + folder);
        }
        if (!Files.isWritable(folder)) {
            throw new CommandFailure(folder + " is not writable: choose another --dir, or change its permissions");
        }
        this.folder = folder;
    }

    /// Creates a file to receive into, under a unique temporary name.
    ///
    /// @throws RejectedFileException if the name is not allowed or taken by something other than a regular file
    IncomingFile create(Offer offer) throws RejectedFileException, IOException {
        Path target = target(offer.name());
        if (Files.isSymbolicLink(target)) {
            throw new RejectedFileException("a symbolic link of that name exists");
        }
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new RejectedFileException("a directory or device of that name exists");
        }
        String suffix =
                "." + Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX) + ".part";
        Path part = folder.resolve(".rdmacomm" + suffix);
        IncomingFile file = new IncomingFile(offer, part, target, open::remove);
        open.add(file);
        return file;
    }

    private Path target(String name) throws RejectedFileException {
        if (name.isEmpty() || name.equals(".") || name.equals("..")) {
            throw new RejectedFileException("'" + name + "' is not a file name");
        }
        if (name.indexOf('/') >= 0
                || name.indexOf('\0') >= 0
                || name.contains(folder.getFileSystem().getSeparator())) {
            throw new RejectedFileException(
                    "the name contains a path separator or NUL; only plain file names are accepted");
        }
        if (name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
            throw new RejectedFileException("the name is longer than " + MAX_NAME_BYTES + " bytes");
        }
        try {
            Path target = folder.resolve(name);
            if (!folder.equals(target.getParent())) {
                throw new RejectedFileException("the name leads out of the directory");
            }
            return target;
        } catch (InvalidPathException e) {
            throw new RejectedFileException("the name is not valid here: " + e.getReason());
        }
    }

    /// Deletes all incomplete files.
    @Override
    public void close() {
        open.forEach(IncomingFile::discard);
    }
}
