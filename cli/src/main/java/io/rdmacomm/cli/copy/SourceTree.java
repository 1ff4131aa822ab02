package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.command.FileName;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The files that a user names, and those in the directories among them.
///
/// Follows links that the user names. Skips links in directories: they could lead anywhere.
final class SourceTree {
    private final List<String> names;
    private final boolean recursive;
    private final Existing existing;
    private final boolean resume;
    /// The paths at the receiver that are taken, if two files could have the same one.
    private final Set<String> taken = new HashSet<>();
    private long number;

    /// @param names what the user calls the files
    /// @param recursive whether directories are sent
    /// @param existing what the receiver does with files that exist
    /// @param resume whether an interrupted transfer can be continued
    SourceTree(List<String> names, boolean recursive, Existing existing, boolean resume) {
        this.names = names;
        this.recursive = recursive;
        this.existing = existing;
        this.resume = resume;
    }

    /// Sends all files. Reports those that cannot be sent, and continues with the others.
    void sendOver(SenderLink link, CopyProgress progress) {
        try (FileSender sender = new FileSender(link, progress)) {
            for (String name : names) {
                new Walk(sender, progress).send(name);
            }
            sender.finish();
        }
    }

    /// A directory at the receiver.
    ///
    /// @param number its number; 0 for the receiver's own directory
    /// @param path the names of the directories that lead to it, each with a slash; empty for the receiver's
    ///     own directory
    private record Folder(long number, String path) {
        private static final Folder ROOT = new Folder(0, "");
    }

    private final class Walk {
        private final FileSender sender;
        private final CopyProgress progress;

        private Walk(FileSender sender, CopyProgress progress) {
            this.sender = sender;
            this.progress = progress;
        }

        private void send(String name) {
            try {
                Path path = FileName.path(name);
                PosixFileAttributes attributes = Files.readAttributes(path, PosixFileAttributes.class);
                if (attributes.isDirectory() && isContent(name)) {
                    requireRecursive();
                    sendContent(path, name, Folder.ROOT);
                    return;
                }
                Path leaf = path.toRealPath(LinkOption.NOFOLLOW_LINKS).getFileName();
                send(path, name, leaf == null ? "" : FileName.of(leaf), attributes, Folder.ROOT);
            } catch (IOException e) {
                progress.onFailed(name, FailureText.ofFile(e));
            }
        }

        /// As with cp(1), `DIR/.` means the content of the directory, without the directory itself.
        private boolean isContent(String name) {
            String leaf = name.substring(name.lastIndexOf('/') + 1);
            return leaf.equals(".") || leaf.equals("..") || name.chars().allMatch(character -> character == '/');
        }

        private void requireRecursive() throws IOException {
            if (!recursive) {
                throw new IOException("it is a directory; -r sends directories");
            }
        }

        private void send(Path path, String label, String name, PosixFileAttributes attributes, Folder folder)
                throws IOException {
            if (attributes.isDirectory()) {
                requireRecursive();
                sendFolder(path, label, name, attributes, folder);
                return;
            }
            if (!attributes.isRegularFile()) {
                throw new IOException("not a regular file, but a pipe, a socket or a device");
            }
            if (names.size() > 1 && !taken.add(folder.path() + name)) {
                throw new IOException("this command has sent another file of that name, " + folder.path() + name
                        + ", which it does not replace");
            }
            offer(SourceFile.open(path), label, name, attributes, folder);
        }

        private void offer(
                FileChannel channel, String label, String name, PosixFileAttributes attributes, Folder folder)
                throws IOException {
            boolean offered = false;
            try {
                Offer offer = Offer.of(
                        ++number, folder.number(), Offer.Kind.FILE, name, attributes, channel.size(), existing, resume);
                offered = true;
                sender.offer(offer, label, channel);
            } finally {
                if (!offered) {
                    channel.close();
                }
            }
        }

        private void sendFolder(Path path, String label, String name, PosixFileAttributes attributes, Folder folder)
                throws IOException {
            Folder inner = new Folder(++number, folder.path() + name + "/");
            sender.offer(
                    Offer.of(inner.number(), folder.number(), Offer.Kind.FOLDER, name, attributes, 0, existing, false),
                    label,
                    null);
            try {
                sendContent(path, label, inner);
            } finally {
                if (!sender.isRejected(inner.number())) {
                    sender.offer(
                            Offer.of(
                                    ++number,
                                    inner.number(),
                                    Offer.Kind.FOLDER_END,
                                    "",
                                    attributes,
                                    0,
                                    existing,
                                    false),
                            label,
                            null);
                }
            }
        }

        private void sendContent(Path path, String label, Folder folder) throws IOException {
            try (DirectoryStream<Path> content = Files.newDirectoryStream(path)) {
                for (Path each : content) {
                    if (sender.isRejected(folder.number())) {
                        return;
                    }
                    sendInner(each, label, folder);
                }
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
        }

        private void sendInner(Path path, String parent, Folder folder) {
            String name = FileName.of(path.getFileName());
            String label = (parent.endsWith("/") ? parent : parent + "/") + name;
            if (name.startsWith(PartFile.PREFIX)) {
                return;
            }
            try {
                PosixFileAttributes attributes =
                        Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                if (attributes.isSymbolicLink()) {
                    progress.onSkipped(label, "it is a symbolic link");
                } else if (attributes.isOther()) {
                    progress.onSkipped(label, "it is a pipe, a socket or a device");
                } else {
                    send(path, label, name, attributes, folder);
                }
            } catch (IOException e) {
                progress.onFailed(label, FailureText.ofFile(e));
            }
        }
    }
}
