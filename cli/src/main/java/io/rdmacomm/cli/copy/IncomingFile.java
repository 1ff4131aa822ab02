package io.rdmacomm.cli.copy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/// A file that is being received. It grows under a temporary name, and is renamed atomically when it is complete and
/// its checksum is correct. For one thread, except that [#discard()] is thread-safe.
final class IncomingFile {
    private final Offer offer;
    private final Path part;
    private final Path target;
    private final Consumer<IncomingFile> onEnd;
    private final FileChannel channel;
    private final CRC32C checksum = new CRC32C();
    private long position;
    private boolean ended;

    IncomingFile(Offer offer, Path part, Path target, Consumer<IncomingFile> onEnd) throws IOException {
        this.offer = offer;
        this.part = part;
        this.target = target;
        this.onEnd = onEnd;
        this.channel = FileChannel.open(
                part,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    Offer offer() {
        return offer;
    }

    /// Appends a chunk. A chunk of zeros becomes a hole, which takes no disk space.
    void append(ByteBuffer chunk) throws IOException {
        int length = chunk.remaining();
        if (length > offer.size() - position) {
            throw new IOException("the sender sent more than the " + offer.size() + " bytes that it announced");
        }
        checksum.update(chunk.duplicate());
        if (!isZero(MemorySegment.ofBuffer(chunk))) {
            long at = position;
            while (chunk.hasRemaining()) {
                at += channel.write(chunk, at);
            }
        }
        position += length;
    }

    private static boolean isZero(MemorySegment chunk) {
        long size = chunk.byteSize();
        return size > 0
                && chunk.get(ValueLayout.JAVA_BYTE, 0) == 0
                && MemorySegment.mismatch(chunk, 0, size - 1, chunk, 1, size) < 0;
    }

    /// Verifies the file and gives it its name.
    synchronized void complete(long expectedChecksum) throws IOException {
        if (ended) {
            throw new IOException("the transfer was canceled");
        }
        if (position != offer.size()) {
            throw new IOException("only " + position + " of " + offer.size() + " bytes arrived");
        }
        if (checksum.getValue() != expectedChecksum) {
            throw new IOException("the checksum is wrong: the data was corrupted in transit");
        }
        if (channel.size() < offer.size()) {
            channel.write(ByteBuffer.allocate(1), offer.size() - 1);
        }
        channel.close();
        offer.apply(part);
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
        ended = true;
        onEnd.accept(this);
    }

    /// Deletes the incomplete file. Does nothing if the file is complete.
    synchronized void discard() {
        if (ended) {
            return;
        }
        ended = true;
        onEnd.accept(this);
        try {
            channel.close();
            Files.deleteIfExists(part);
        } catch (IOException _) {
            // The temporary file stays behind; there is nothing else to try.
        }
    }
}
