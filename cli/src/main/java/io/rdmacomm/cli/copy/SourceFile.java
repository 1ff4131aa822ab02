package io.rdmacomm.cli.copy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Opens files to send. The size of a file is announced before its data, but files that the kernel makes while they
/// are read, such as those of proc(5) and sysfs(5), report 0 bytes or a whole page. Reading is the only test: a
/// size is right if the last byte before it can be read, and none after it. A file with a wrong size is read to
/// its end first, into a temporary file that has no name.
final class SourceFile {
    private static final Limits LIMITS = new Limits(64 << 20, Duration.ofSeconds(10));
    private static final int PAGE_BYTES = 4096;
    private static final int READ_BYTES = 256 << 10;

    /// The limits for files whose size is wrong.
    ///
    /// @param bytes the most bytes of a file
    /// @param time how long reading may take: some files have no end, but wait for more data
    record Limits(int bytes, Duration time) {}

    private SourceFile() {}

    /// A channel that can be read from its start and has the right size. Blocks.
    ///
    /// @throws IOException if the file cannot be read, or has a wrong size and exceeds the limits
    static FileChannel open(Path path) throws IOException {
        return open(path, LIMITS);
    }

    static FileChannel open(Path path, Limits limits) throws IOException {
        FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
        boolean kept = false;
        CompletableFuture<Void> done = new CompletableFuture<>();
        try {
            var _ = done.orTimeout(limits.time().toMillis(), TimeUnit.MILLISECONDS)
                    .whenComplete((_, late) -> closeIf(late, file));
            kept = hasRightSize(file) && done.complete(null);
            return kept ? file : readToEnd(file, limits.bytes());
        } catch (ClosedChannelException e) {
            throw new IOException(
                    "its end did not come within " + limits.time().toSeconds() + " s: save the part you need as a file",
                    e);
        } finally {
            done.complete(null);
            if (!kept) {
                file.close();
            }
        }
    }

    /// Ends a read that blocks.
    private static void closeIf(@Nullable Throwable late, FileChannel file) {
        if (late != null) {
            try {
                file.close();
            } catch (IOException _) {
                // It was only read.
            }
        }
    }

    private static boolean hasRightSize(FileChannel file) throws IOException {
        long size = file.size();
        if (size == 0) {
            // Some files of the kernel can only be read in larger pieces.
            return file.read(ByteBuffer.allocate(PAGE_BYTES), 0) < 0 || file.size() > 0;
        }
        // If the file has grown in the meantime, its size is still right: the bytes before it are sent.
        int count = file.read(ByteBuffer.allocate(2), size - 1);
        return count == 1 || (count == 2 && file.size() > size);
    }

    private static FileChannel readToEnd(FileChannel file, int mostBytes) throws IOException {
        // Java deletes the name at once where the system allows it.
        FileChannel copy = FileChannel.open(
                Files.createTempFile("rdmacomm-send-", ""),
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE);
        boolean complete = false;
        try {
            // Some files must be read in one piece from their start.
            ByteBuffer block = ByteBuffer.allocateDirect(READ_BYTES);
            long position = 0;
            while (file.read(block.clear(), position) >= 0) {
                position += block.position();
                if (position > mostBytes) {
                    throw new IOException("its size is given as " + file.size() + " bytes, but more than " + mostBytes
                            + " can be read: save the part you need as a file");
                }
                write(block.flip(), copy);
            }
            copy.position(0);
            complete = true;
            return copy;
        } finally {
            if (!complete) {
                copy.close();
            }
        }
    }

    private static void write(ByteBuffer block, FileChannel copy) throws IOException {
        while (block.hasRemaining()) {
            copy.write(block);
        }
    }
}
