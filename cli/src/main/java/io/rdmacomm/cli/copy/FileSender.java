package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.rig.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The sender's side of a file copy: offers files ahead, and reads each accepted file straight into the memory that
/// it is sent from.
final class FileSender implements AutoCloseable {
    /// The most files that are offered and not yet complete.
    static final int WINDOW = 64;

    private static final int READ_BYTES = 256 << 10;

    private final SenderLink link;
    private final CopyProgress progress;
    /// The files that are not complete, by number.
    private final Map<Long, Outgoing> pending = new HashMap<>();
    /// The offered files that have not been sent yet.
    private final Deque<Outgoing> offered = new ArrayDeque<>();
    private final Set<Long> rejectedFolders = new HashSet<>();

    /// Sends files over `link`.
    FileSender(SenderLink link, CopyProgress progress) {
        this.link = link;
        this.progress = progress;
    }

    /// An offered file or directory.
    private static final class Outgoing {
        private final Offer offer;
        private final String label;
        private final @Nullable FileChannel channel;
        private long offset;
        private boolean accepted;
        private boolean ended;

        private Outgoing(Offer offer, String label, @Nullable FileChannel channel) {
            this.offer = offer;
            this.label = label;
            this.channel = channel;
        }

        private void close() {
            ended = true;
            if (channel != null) {
                try {
                    channel.close();
                } catch (IOException _) {
                    // It was only read.
                }
            }
        }
    }

    /// Offers a file or directory, and sends the files that were accepted meanwhile. The outcome goes to the
    /// [CopyProgress].
    ///
    /// @param label what the user calls it
    /// @param channel the open file, which this closes; null for a directory
    void offer(Offer offer, String label, @Nullable FileChannel channel) {
        Outgoing next = new Outgoing(offer, label, channel);
        // Registered first, so that it is closed in any case.
        pending.put(offer.number(), next);
        // Once the window is full, make room for several, so that not every file wakes up both sides.
        int room = pending.size() > WINDOW ? WINDOW / 2 : WINDOW;
        while (pending.size() > room) {
            handle(link.receive(CopyLink.TIMEOUT));
            sendAccepted();
        }
        link.send(offer.toFrame());
        offered.add(next);
        handleArrived();
        sendAccepted();
    }

    /// Whether the receiver has rejected that directory; then there is no need to offer its content.
    boolean isRejected(long folder) {
        return rejectedFolders.contains(folder);
    }

    /// Waits until all offers are complete.
    void finish() {
        while (!pending.isEmpty()) {
            handle(link.receive(CopyLink.TIMEOUT));
            sendAccepted();
        }
    }

    private void handleArrived() {
        for (Frame<CopyMessage> frame = link.poll(); frame != null; frame = link.poll()) {
            handle(frame);
        }
    }

    private void handle(Frame<CopyMessage> frame) {
        switch (frame.kind()) {
            case BUSY -> {
                // The receiver is alive.
            }
            case ACCEPT -> accept(frame);
            case REJECT, SKIP, DONE, FAILED -> end(frame);
            default -> throw unexpected(frame);
        }
    }

    private static CommandFailure unexpected(Frame<CopyMessage> frame) {
        return new CommandFailure("the receiver sent an unexpected " + frame.kind() + " message");
    }

    private void accept(Frame<CopyMessage> frame) {
        Outgoing item = pending.get(frame.number(0));
        if (item == null || item.accepted || frame.number(1) < 0 || frame.number(1) > item.offer.size()) {
            throw unexpected(frame);
        }
        item.accepted = true;
        item.offset = frame.number(1);
    }

    private void end(Frame<CopyMessage> frame) {
        Outgoing item = pending.remove(frame.number(0));
        if (item == null) {
            throw unexpected(frame);
        }
        item.close();
        switch (frame.kind()) {
            case REJECT -> reject(item, frame.text());
            case SKIP -> progress.onSkipped(item.label, "it exists already");
            case FAILED -> progress.onFailed(item.label, "the receiver could not store it: " + frame.text());
            default -> done(item, StoredFile.of(frame));
        }
    }

    private void reject(Outgoing item, String reason) {
        if (item.offer.kind() == Offer.Kind.FOLDER) {
            rejectedFolders.add(item.offer.number());
        } else if (rejectedFolders.contains(item.offer.folder())) {
            // One line for the directory is enough.
            return;
        }
        progress.onFailed(item.label, "rejected by the receiver: " + reason);
    }

    private void done(Outgoing item, StoredFile stored) {
        if (!stored.warning().isEmpty()) {
            progress.onWarning(item.label, stored.warning());
        }
        if (item.offer.kind() == Offer.Kind.FILE) {
            boolean renamed = !stored.name().equals(item.offer.name());
            progress.onDone(renamed ? item.label + " as " + stored.name() : item.label, item.offer.size());
        }
    }

    private void sendAccepted() {
        for (Outgoing next = offered.peek(); next != null && (next.accepted || next.ended); next = offered.peek()) {
            offered.remove();
            if (!next.ended) {
                send(next);
            }
        }
    }

    private void send(Outgoing item) {
        FileChannel channel = item.channel;
        long number = item.offer.number();
        if (channel == null) {
            link.send(Frame.of(CopyMessage.END, number, 0));
            return;
        }
        progress.onBegin(item.label, item.offer.size(), item.offset);
        try {
            CRC32C checksum = new CRC32C();
            skip(channel, item.offset, checksum);
            if (transfer(item, channel, checksum)) {
                link.send(Frame.of(CopyMessage.END, number, checksum.getValue()));
            }
        } catch (IOException e) {
            // A failure of the file: those of the connection are unchecked exceptions.
            String reason = FailureText.ofFile(e);
            pending.remove(number);
            item.close();
            link.send(Frame.of(CopyMessage.ABORT, reason, number));
            progress.onFailed(item.label, reason);
        }
    }

    /// Skips to `offset`, and adds the bytes before it to the checksum.
    private void skip(FileChannel channel, long offset, CRC32C checksum) throws IOException {
        if (offset == 0) {
            return;
        }
        BusySignal busy = new BusySignal(link);
        ByteBuffer block = ByteBuffer.allocateDirect(READ_BYTES);
        for (long left = offset; left > 0; left -= block.limit()) {
            block.clear();
            fill(channel, block, left);
            checksum.update(block.flip());
            busy.run();
        }
    }

    /// Returns false if the receiver could not store the file.
    private boolean transfer(Outgoing item, FileChannel channel, CRC32C checksum) throws IOException {
        long left = item.offer.size() - item.offset;
        while (left > 0) {
            ByteBuffer block = link.block();
            handleArrived();
            if (item.ended) {
                return false;
            }
            fill(channel, block, left);
            checksum.update(block.duplicate().flip());
            left -= block.position();
            link.sendBlock(block, item.offer.number());
            progress.onProgress(item.offer.size() - left);
        }
        return true;
    }

    /// Fills `block`, or reads the rest of the file into it if that is less.
    private static void fill(FileChannel channel, ByteBuffer block, long left) throws IOException {
        if (left < block.remaining()) {
            block.limit(block.position() + (int) left);
        }
        while (block.hasRemaining()) {
            if (channel.read(block) < 0) {
                throw new IOException("the file shrank while it was being sent");
            }
        }
    }

    /// Closes all open files.
    @Override
    public void close() {
        pending.values().forEach(Outgoing::close);
    }
}
