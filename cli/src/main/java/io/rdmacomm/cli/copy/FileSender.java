package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/// The sender's side of a file copy: reads each file straight into the memory that the data is sent from.
public final class FileSender {
    private final CopyLink link;
    private final CopyListener listener;
    private long number;

    /// A sender over `link`.
    public FileSender(CopyLink link, CopyListener listener) {
        this.link = link;
        this.listener = listener;
    }

    /// Sends one file; what is wrong with a file is told to the listener.
    ///
    /// @return whether it is complete at the receiver
    public boolean send(Path path) {
        long begin = System.nanoTime();
        number++;
        String reason;
        try (FileChannel channel = open(path)) {
            Offer offer = Offer.of(number, path);
            listener.onBegin(offer.name(), offer.size());
            reason = transfer(offer, channel);
            if (reason.isEmpty()) {
                listener.onDone(offer.name(), offer.size(), System.nanoTime() - begin);
                return true;
            }
        } catch (IOException e) {
            reason = FailureText.ofFile(e);
        }
        listener.onFailed(path.toString(), reason);
        return false;
    }

    private static FileChannel open(Path path) throws IOException {
        if (!Files.exists(path)) {
            throw new NoSuchFileException(path.toString());
        }
        if (!Files.isRegularFile(path)) {
            throw new IOException("is no regular file; folders are not sent, name the files in it");
        }
        return FileChannel.open(path, StandardOpenOption.READ);
    }

    /// Why it did not work; empty when it did.
    private String transfer(Offer offer, FileChannel channel) throws IOException {
        link.send(offer.toNote());
        Note answer = link.receive(CopyLink.PATIENCE);
        if (answer.kind() == Note.Kind.REFUSE) {
            return "refused by the receiver: " + answer.text();
        }
        expect(answer, Note.Kind.ACCEPT);
        CRC32C checksum = new CRC32C();
        long left = offer.size();
        while (left > 0) {
            ByteBuffer block = link.block();
            Note objection = link.poll();
            if (objection != null) {
                return failed(objection);
            }
            int length = read(channel, block, left);
            if (length <= 0) {
                String reason = "the file became shorter while it was sent";
                link.send(Note.of(Note.Kind.ABORT, reason, number));
                return reason;
            }
            checksum.update(block.duplicate().flip());
            link.sendBlock(block);
            left -= length;
            listener.onProgress(offer.size() - left);
        }
        link.send(Note.of(Note.Kind.END, number, checksum.getValue()));
        Note end = link.receive(CopyLink.PATIENCE);
        return end.kind() == Note.Kind.DONE ? "" : failed(end);
    }

    /// Fills the block, or reads the rest of the file into it.
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
            link.send(Note.of(Note.Kind.ABORT, FailureText.ofFile(e), number));
            throw e;
        }
    }

    private String failed(Note note) {
        expect(note, Note.Kind.FAILED);
        return "the receiver could not keep it: " + note.text();
    }

    private void expect(Note note, Note.Kind kind) {
        if (note.kind() != kind || note.number(0) != number) {
            throw new CommandFailure("the receiver sent " + note.kind() + " instead of " + kind);
        }
    }
}
