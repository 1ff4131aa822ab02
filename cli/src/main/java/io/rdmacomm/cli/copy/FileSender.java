package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.cli.wire.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/// The sender's side of a file copy: reads each file straight into the memory that it is sent from.
public final class FileSender {
    private final SenderLink link;
    private final CopyProgress progress;
    private long number;

    /// Sends files over `link`.
    public FileSender(SenderLink link, CopyProgress progress) {
        this.link = link;
        this.progress = progress;
    }

    /// Sends one file. The outcome goes to the [CopyProgress].
    public void send(Path path) {
        long begin = System.nanoTime();
        number++;
        String reason;
        try (FileChannel channel = open(path)) {
            Offer offer = Offer.of(number, path);
            progress.onBegin(offer.name(), offer.size());
            reason = transfer(offer, channel);
            if (reason.isEmpty()) {
                progress.onDone(offer.name(), offer.size(), System.nanoTime() - begin);
                return;
            }
        } catch (IOException e) {
            reason = FailureText.ofFile(e);
        }
        progress.onFailed(path.toString(), reason);
    }

    private static FileChannel open(Path path) throws IOException {
        if (!Files.exists(path)) {
            throw new NoSuchFileException(path.toString());
        }
        if (!Files.isRegularFile(path)) {
            throw new IOException("not a regular file; to send a directory, name the files in it");
        }
        return FileChannel.open(path, StandardOpenOption.READ);
    }

    /// Returns the reason if the file could not be sent, else the empty string.
    private String transfer(Offer offer, FileChannel channel) throws IOException {
        link.send(offer.toFrame());
        Frame<CopyMessage> answer = link.receive(CopyLink.PATIENCE);
        if (answer.kind() == CopyMessage.REJECT) {
            return "rejected by the receiver: " + answer.text();
        }
        expect(answer, CopyMessage.ACCEPT);
        CRC32C checksum = new CRC32C();
        long left = offer.size();
        while (left > 0) {
            ByteBuffer block = link.block();
            Frame<CopyMessage> failure = link.poll();
            if (failure != null) {
                return failed(failure);
            }
            int length = read(channel, block, left);
            if (length <= 0) {
                String reason = "the file shrank while it was being sent";
                link.send(Frame.of(CopyMessage.ABORT, reason, number));
                return reason;
            }
            checksum.update(block.duplicate().flip());
            link.sendBlock(block);
            left -= length;
            progress.onProgress(offer.size() - left);
        }
        link.send(Frame.of(CopyMessage.END, number, checksum.getValue()));
        Frame<CopyMessage> end = link.receive(CopyLink.PATIENCE);
        return end.kind() == CopyMessage.DONE ? "" : failed(end);
    }

    /// Fills `block`, or reads the rest of the file into it; -1 at the end of the file.
    private int read(FileChannel channel, ByteBuffer block, long left) throws IOException {
        if (left < block.remaining()) {
            block.limit(block.position() + (int) left);
        }
        try {
            int total = 0;
            while (block.hasRemaining()) {
                int count = channel.read(block);
                if (count < 0) {
                    return -1;
                }
                total += count;
            }
            return total;
        } catch (IOException e) {
            link.send(Frame.of(CopyMessage.ABORT, FailureText.ofFile(e), number));
            throw e;
        }
    }

    private String failed(Frame<CopyMessage> frame) {
        expect(frame, CopyMessage.FAILED);
        return "the receiver could not store it: " + frame.text();
    }

    private void expect(Frame<CopyMessage> frame, CopyMessage kind) {
        if (frame.kind() != kind || frame.number(0) != number) {
            throw new CommandFailure("the receiver sent " + frame.kind() + " instead of " + kind);
        }
    }
}
