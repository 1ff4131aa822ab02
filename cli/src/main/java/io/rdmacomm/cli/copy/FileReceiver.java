package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.PeerClosedException;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The receiver's side of one connection: stores one file after another until the sender disconnects.
public final class FileReceiver {
    private static final Duration NEXT_FILE = Duration.ofMinutes(10);

    private final ReceiverLink link;
    private final IncomingFolder folder;
    private final CopyProgress progress;
    private @Nullable IncomingFile file;
    private long begin;
    private long received;
    private int failures;

    /// Stores the files that arrive over `link` in `folder`.
    public FileReceiver(ReceiverLink link, IncomingFolder folder, CopyProgress progress) {
        this.link = link;
        this.folder = folder;
        this.progress = progress;
    }

    /// Receives files until the sender disconnects.
    ///
    /// @return how many files failed
    public int run() {
        try {
            while (true) {
                handle(link.receive(file == null ? NEXT_FILE : CopyLink.PATIENCE));
            }
        } catch (ClosedException | PeerClosedException e) {
            endUnfinished("the connection ended before the file was complete: " + FailureText.of(e));
        } catch (RuntimeException e) {
            endUnfinished(FailureText.of(e));
            throw e;
        }
        return failures;
    }

    private void endUnfinished(String reason) {
        IncomingFile current = file;
        if (current != null) {
            discard(current, reason);
        }
    }

    private void handle(Frame<CopyMessage> frame) {
        switch (frame.kind()) {
            case OFFER -> onOffer(frame);
            case DATA -> onData();
            case END -> onEnd(frame);
            case ABORT -> endUnfinished("the sender gave up: " + frame.text());
            default -> throw new CommandFailure("the sender sent an unexpected " + frame.kind() + " message");
        }
    }

    private void onOffer(Frame<CopyMessage> frame) {
        if (file != null) {
            throw new CommandFailure("the sender offered a file before the previous one was complete");
        }
        begin = System.nanoTime();
        received = 0;
        try {
            IncomingFile next = folder.create(Offer.of(frame));
            file = next;
            progress.onBegin(next.offer().name(), next.offer().size());
            link.send(Frame.of(CopyMessage.ACCEPT, frame.number(0)));
        } catch (RejectedFileException e) {
            reject(frame, e.reason());
        } catch (IOException e) {
            reject(frame, FailureText.ofFile(e));
        }
    }

    private void reject(Frame<CopyMessage> offer, String reason) {
        failures++;
        progress.onFailed(offer.text(), reason);
        link.send(Frame.of(CopyMessage.REJECT, reason, offer.number(0)));
    }

    /// Data without a file was already in flight when the file failed.
    private void onData() {
        IncomingFile current = file;
        if (current != null) {
            try {
                received += link.data().remaining();
                current.append(link.data());
                progress.onProgress(received);
            } catch (IOException e) {
                fail(current, e);
            }
        }
        link.release();
    }

    private void onEnd(Frame<CopyMessage> frame) {
        IncomingFile current = file;
        if (current == null) {
            return;
        }
        try {
            current.complete(frame.number(1));
            file = null;
            progress.onDone(current.offer().name(), current.offer().size(), System.nanoTime() - begin);
            link.send(Frame.of(CopyMessage.DONE, frame.number(0)));
        } catch (IOException e) {
            fail(current, e);
        }
    }

    private void fail(IncomingFile current, IOException cause) {
        String reason = FailureText.ofFile(cause);
        discard(current, reason);
        link.send(Frame.of(CopyMessage.FAILED, reason, current.offer().number()));
    }

    private void discard(IncomingFile current, String reason) {
        current.discard();
        file = null;
        failures++;
        progress.onFailed(current.offer().name(), reason);
    }
}
