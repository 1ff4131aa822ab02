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

/// A file that is being received: it grows under a temporary name, and gets its own, in one step, when it is
/// complete and its checksum is right. Usable from one thread, but [#discard()] from any.
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

    /// Appends a chunk. One that is all zeroes becomes a hole, which takes no room on the disk.
    void append(ByteBuffer chunk) throws IOException {
        int length = chunk.remaining();
        if (length > offer.size() - position) {
            throw new IOException("more data came than the " + offer.size() + " bytes that were announced");
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

    /// Checks what came and gives the file its name.
    synchronized void complete(long expectedChecksum) throws IOException {
        if (ended) {
            throw new IOException("the transfer was ended");
        }
        if (position != offer.size()) {
            throw new IOException(position + " of " + offer.size() + " bytes came");
        }
        if (checksum.getValue() != expectedChecksum) {
            throw new IOException("the checksum is wrong: the data was damaged on the way");
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

    /// Removes what has come so far. Does nothing when the file is complete.
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
            // Nothing more can be done about it.
        }
    }
}
