package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.FileName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// A file that is being received. It grows under a temporary name, and gets its final name in one step when
/// it is complete and its checksum is correct. For one thread, except that [#interrupt()] is thread-safe.
final class IncomingFile {
    private static final int READ_BYTES = 256 << 10;
    private static final int MOST_NAMES = 10_000;

    private final Offer offer;
    private final Path parent;
    private final long offset;
    private final IncomingFolder folder;
    private final CRC32C checksum = new CRC32C();
    private volatile @Nullable PartFile part;
    private long position;
    private volatile boolean ended;

    /// Opens nothing yet.
    ///
    /// @param parent the directory that it belongs in
    /// @param offset how much of it is there already
    IncomingFile(Offer offer, Path parent, long offset, IncomingFolder folder) {
        this.offer = offer;
        this.parent = parent;
        this.offset = offset;
        this.folder = folder;
    }

    Offer offer() {
        return offer;
    }

    /// How much of it was there before.
    long offset() {
        return offset;
    }

    boolean isOpen() {
        return part != null;
    }

    /// Makes the temporary file, or reads the part that is already there.
    ///
    /// @param busy called periodically while it reads
    void open(Runnable busy) throws IOException {
        PartFile opened = make();
        if (opened.channel().size() < offset) {
            throw new IOException("the part that had arrived earlier is gone; send it again");
        }
        opened.channel().truncate(offset);
        ByteBuffer block = ByteBuffer.allocateDirect(Math.clamp(offset, 1, READ_BYTES));
        while (position < offset) {
            block.clear().limit((int) Math.min(block.capacity(), offset - position));
            if (part().channel().read(block, position) < 0) {
                throw new IOException("the part that had arrived earlier is gone; send it again");
            }
            checksum.update(block.flip());
            position += block.limit();
            busy.run();
        }
    }

    private synchronized PartFile make() throws IOException {
        if (ended) {
            throw new IOException("the transfer was canceled");
        }
        PartFile opened = folder.open(this, parent);
        part = opened;
        return opened;
    }

    private PartFile part() throws IOException {
        PartFile opened = part;
        if (opened == null || ended) {
            throw new IOException("the transfer was canceled");
        }
        return opened;
    }

    /// Appends a piece. A piece of zeros becomes a hole, which takes no disk space.
    void append(ByteBuffer piece) throws IOException {
        int length = piece.remaining();
        if (length > offer.size() - position) {
            throw new IOException("the sender sent more than the " + offer.size() + " bytes that it announced");
        }
        checksum.update(piece.duplicate());
        if (!isZero(MemorySegment.ofBuffer(piece))) {
            long at = position;
            while (piece.hasRemaining()) {
                at += part().channel().write(piece, at);
            }
        }
        position += length;
    }

    private static boolean isZero(MemorySegment piece) {
        long size = piece.byteSize();
        return size > 0
                && piece.get(ValueLayout.JAVA_BYTE, 0) == 0
                && MemorySegment.mismatch(piece, 0, size - 1, piece, 1, size) < 0;
    }

    /// How much of it has arrived.
    long position() {
        return position;
    }

    /// Verifies the file and gives it its name.
    synchronized StoredFile complete(long expectedChecksum) throws IOException {
        PartFile opened = part();
        if (position != offer.size()) {
            throw new IOException("only " + position + " of " + offer.size() + " bytes arrived");
        }
        if (checksum.getValue() != expectedChecksum) {
            throw new IOException("the checksum is wrong: the data was corrupted in transit, or changed meanwhile");
        }
        extend(opened);
        folder.check(parent);
        String warning = folder.attributes().apply(offer, opened.path());
        // Keep the lock until the temporary name is gone.
        String name = name(opened.path());
        end();
        opened.channel().close();
        return new StoredFile(name, warning);
    }

    private void extend(PartFile opened) throws IOException {
        if (position > 0 && opened.channel().size() < position) {
            opened.channel().write(ByteBuffer.allocate(1), position - 1);
        }
    }

    private String name(Path from) throws IOException {
        String name = offer.name();
        switch (offer.existing()) {
            case OVERWRITE, UPDATE -> {
                Path target = FileName.child(parent, name);
                if (Files.isSymbolicLink(target) || Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
                    throw new IOException("a symbolic link or directory of that name exists");
                }
                Files.move(from, target, StandardCopyOption.ATOMIC_MOVE);
            }
            case SKIP -> {
                if (!take(from, FileName.child(parent, name))) {
                    throw new IOException("a file of that name has appeared meanwhile");
                }
            }
            case RENAME -> {
                int number = 0;
                while (!take(from, FileName.child(parent, name))) {
                    number++;
                    if (number > MOST_NAMES) {
                        throw new IOException("all names up to " + name + " exist");
                    }
                    name = offer.name() + "." + number;
                }
            }
        }
        return name;
    }

    /// Gives the file a name that is not in use.
    ///
    /// @return whether it was free
    private static boolean take(Path from, Path target) throws IOException {
        try {
            Files.createLink(target, from);
            Files.delete(from);
            return true;
        } catch (FileAlreadyExistsException _) {
            return false;
        } catch (UnsupportedOperationException | NoSuchFileException e) {
            throw new IOException("it cannot be renamed: " + e.getMessage(), e);
        } catch (FileSystemException e) {
            // The file system has no hard links.
            if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                return false;
            }
            Files.move(from, target, StandardCopyOption.ATOMIC_MOVE);
            return true;
        }
    }

    private void end() {
        ended = true;
        folder.forget(this, part);
    }

    /// Called when the connection or the receiver ends. Keeps the received part if the transfer can be resumed, or
    /// else deletes it.
    synchronized void interrupt() {
        close(offer.resume());
    }

    /// Deletes the incomplete file. Does nothing if the file is complete.
    synchronized void discard() {
        close(false);
    }

    private void close(boolean keep) {
        if (ended) {
            return;
        }
        end();
        PartFile opened = part;
        if (opened == null) {
            return;
        }
        try {
            if (keep) {
                extend(opened);
            } else {
                Files.deleteIfExists(opened.path());
            }
            opened.channel().close();
        } catch (IOException _) {
            // The temporary file stays behind; the next receiver removes it.
        }
    }
}
