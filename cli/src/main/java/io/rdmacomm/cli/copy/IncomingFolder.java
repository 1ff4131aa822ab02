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

/// The folder that files are received into. No name leads out of it: a name is one component, never a path,
/// and whatever is in the way under that name is either a regular file, which is replaced as a whole, or the
/// reason to refuse.
public final class IncomingFolder implements AutoCloseable {
    private static final int MAX_NAME_BYTES = 255;

    private final Path folder;
    private final Set<IncomingFile> open = ConcurrentHashMap.newKeySet();

    /// @throws CommandFailure if it is no folder that can be written to
    public IncomingFolder(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw new CommandFailure(folder + " is no folder: make it first, with mkdir " + folder);
        }
        if (!Files.isWritable(folder)) {
            throw new CommandFailure(folder + " cannot be written to: choose another --dir, or change its rights");
        }
        this.folder = folder;
    }

    /// Begins to receive a file, under a name of its own that is no other file's.
    ///
    /// @throws RefusedException if the name or what is in the way of it forbids that
    IncomingFile create(Offer offer) throws RefusedException, IOException {
        Path target = target(offer.name());
        if (Files.isSymbolicLink(target)) {
            throw new RefusedException("a symbolic link of that name is in the way");
        }
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new RefusedException("a folder or a device of that name is in the way");
        }
        String suffix =
                "." + Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX) + ".part";
        Path part = folder.resolve(".rdmacomm" + suffix);
        IncomingFile file = new IncomingFile(offer, part, target, open::remove);
        open.add(file);
        return file;
    }

    private Path target(String name) throws RefusedException {
        if (name.isEmpty() || name.equals(".") || name.equals("..")) {
            throw new RefusedException("'" + name + "' is no name of a file");
        }
        if (name.indexOf('/') >= 0
                || name.indexOf('\0') >= 0
                || name.contains(folder.getFileSystem().getSeparator())) {
            throw new RefusedException(
                    "the name has a separator or a NUL in it; files are received by their last name only");
        }
        if (name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
            throw new RefusedException("the name is longer than " + MAX_NAME_BYTES + " bytes");
        }
        try {
            Path target = folder.resolve(name);
            if (!folder.equals(target.getParent())) {
                throw new RefusedException("the name leads out of the folder");
            }
            return target;
        } catch (InvalidPathException e) {
            throw new RefusedException("the name is not possible here: " + e.getReason());
        }
    }

    /// Removes what is half-written.
    @Override
    public void close() {
        open.forEach(IncomingFile::discard);
    }
}
