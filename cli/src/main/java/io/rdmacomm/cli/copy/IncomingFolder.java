package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FileName;
import io.rdmacomm.cli.command.OnFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The directory that files are received into. A sender cannot write outside of it: a name is a single component,
/// never a path, and existing directories are entered only if they are not symbolic links. An existing regular file
/// is replaced as a whole or not at all. If anything else has that name, the file is rejected.
final class IncomingFolder implements AutoCloseable {
    private static final int MAX_NAME_BYTES = 255;
    private static final int KEY_BYTES = 8;

    private final Path root;
    private final boolean hidden;
    private final @Nullable Existing rule;
    private final Attributes attributes = new Attributes();
    private final Set<IncomingFile> open = ConcurrentHashMap.newKeySet();
    private final Set<Path> resuming = ConcurrentHashMap.newKeySet();

    /// Removes what killed receivers have left in `folder`.
    ///
    /// @param hidden whether names may begin with a dot
    /// @param rule what to do with existing files, for all senders; null lets each sender choose
    /// @throws CommandFailure if `folder` is not a writable directory
    IncomingFolder(Path folder, boolean hidden, @Nullable Existing rule) {
        if (!Files.isDirectory(folder)) {
            throw new CommandFailure(folder + " is not a directory: create it first, with mkdir " + folder);
        }
        if (!Files.isWritable(folder)) {
            throw new CommandFailure(folder + " is not writable: choose another --dir, or change its permissions");
        }
        try {
            this.root = folder.toRealPath();
        } catch (IOException e) {
            throw new CommandFailure(folder + " cannot be entered: " + e.getMessage(), e);
        }
        this.hidden = hidden;
        this.rule = rule;
        PartFile.removeLeftovers(root);
    }

    /// The directory itself.
    Path root() {
        return root;
    }

    Attributes attributes() {
        return attributes;
    }

    /// The path of an offered file or directory.
    ///
    /// @throws RejectedFileException if the name is not allowed
    private Path target(Path parent, String name) throws RejectedFileException {
        if (name.isEmpty() || name.equals(".") || name.equals("..")) {
            throw new RejectedFileException("'" + name + "' is not a file name");
        }
        if (name.indexOf('/') >= 0 || name.indexOf('\0') >= 0) {
            throw new RejectedFileException(
                    "the name contains a path separator or NUL; only plain file names are accepted");
        }
        if (FileName.encode(name).length > MAX_NAME_BYTES) {
            throw new RejectedFileException("the name is longer than " + MAX_NAME_BYTES + " bytes");
        }
        if (name.startsWith(PartFile.PREFIX)) {
            throw new RejectedFileException("the name is that of a temporary file of `rdmacomm recv`");
        }
        if (name.startsWith(".") && !hidden) {
            throw new RejectedFileException(
                    "the name begins with a dot, as those of hidden files and settings do; `rdmacomm recv --hidden`"
                            + " accepts it");
        }
        return FileName.child(parent, name);
    }

    /// Checks that a sender's directory has not been replaced by a symbolic link.
    void check(Path folder) throws IOException {
        if (!folder.equals(root) && !folder.toRealPath().equals(folder)) {
            throw new IOException("a symbolic link has taken the place of its directory");
        }
    }

    /// Creates a directory, or enters the existing one.
    ///
    /// @throws RejectedFileException if the name is not allowed, or belongs to something else
    Path enter(Path parent, Offer offer) throws RejectedFileException, IOException {
        Path target = target(parent, offer.name());
        check(parent);
        try {
            Files.createDirectory(target, attributes.whileOpen(offer));
        } catch (UnsupportedOperationException _) {
            Files.createDirectory(target);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
                throw rejected(target);
            }
        }
        return target;
    }

    private static RejectedFileException rejected(Path target) {
        return new RejectedFileException(
                Files.isSymbolicLink(target)
                        ? "a symbolic link of that name exists"
                        : Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)
                                ? "a file of that name exists"
                                : "a directory or device of that name exists");
    }

    /// Plans to receive a file.
    ///
    /// @return the file; null if the existing one is to stay
    /// @throws RejectedFileException if the name is not allowed or taken by something other than a regular file
    @Nullable
    IncomingFile plan(Path parent, Offer given) throws RejectedFileException, IOException {
        Offer offer = rule == null ? given : given.withExisting(rule);
        Path target = target(parent, offer.name());
        check(parent);
        BasicFileAttributes old = existing(target);
        if (old != null && !old.isRegularFile() && offer.existing() != Existing.RENAME) {
            throw rejected(target);
        }
        if (old != null && staysAsItIs(old, offer)) {
            return null;
        }
        IncomingFile file = new IncomingFile(offer, parent, offset(parent, offer), this);
        open.add(file);
        return file;
    }

    private static @Nullable BasicFileAttributes existing(Path target) throws IOException {
        try {
            return Files.readAttributes(target, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException _) {
            return null;
        }
    }

    private static boolean staysAsItIs(BasicFileAttributes old, Offer offer) {
        return switch (offer.existing()) {
            case OVERWRITE, RENAME -> false;
            case SKIP -> true;
            case UPDATE -> old.size() == offer.size() && isSame(old.lastModifiedTime(), offer.time());
        };
    }

    /// Some file systems know whole seconds only.
    private static boolean isSame(FileTime old, FileTime offered) {
        return old.equals(offered) || old.equals(FileTime.from(offered.to(TimeUnit.SECONDS), TimeUnit.SECONDS));
    }

    private long offset(Path parent, Offer offer) {
        try {
            Path part = resumable(parent, offer);
            return offer.resume() && Files.isRegularFile(part, LinkOption.NOFOLLOW_LINKS)
                    ? Math.min(Files.size(part), offer.size())
                    : 0;
        } catch (IOException _) {
            return 0;
        }
    }

    /// The path of the temporary file. Its name depends on the path, size and time of the file, so a later transfer
    /// of the same file finds it.
    private Path resumable(Path parent, Offer offer) {
        String text = FileName.of(FileName.child(parent, offer.name()))
                + '\0'
                + offer.size()
                + ' '
                + offer.seconds()
                + ' '
                + offer.nanos();
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return PartFile.resumable(root, HexFormat.of().formatHex(digest, 0, KEY_BYTES));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /// Opens the temporary file of `file`.
    PartFile open(IncomingFile file, Path parent) throws IOException {
        if (!file.offer().resume()) {
            return PartFile.create(root);
        }
        Path path = resumable(parent, file.offer());
        if (!resuming.add(path)) {
            throw new IOException("another sender is sending it");
        }
        return OnFailure.run(() -> resuming.remove(path), () -> PartFile.resume(path));
    }

    /// The file has ended.
    ///
    /// @param part its temporary file; null if it had none
    void forget(IncomingFile file, @Nullable PartFile part) {
        open.remove(file);
        if (part != null) {
            resuming.remove(part.path());
        }
    }

    /// Deletes all incomplete files, except those that can be resumed.
    @Override
    public void close() {
        open.forEach(IncomingFile::interrupt);
    }
}
