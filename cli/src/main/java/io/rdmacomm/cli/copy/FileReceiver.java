package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.PeerClosedException;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The receiver's side of one connection: takes one file after another until the sender has gone.
public final class FileReceiver {
    private static final Duration NEXT_FILE = Duration.ofMinutes(10);

    private final CopyLink link;
    private final IncomingFolder folder;
    private final CopyListener listener;
    private @Nullable IncomingFile file;
    private long begin;
    private long received;
    private int failures;

    /// A receiver of what comes over `link`.
    public FileReceiver(CopyLink link, IncomingFolder folder, CopyListener listener) {
        this.link = link;
        this.folder = folder;
        this.listener = listener;
    }

    /// Receives until the sender ends the connection.
    ///
    /// @return how many files could not be received
    public int run() {
        try {
            while (true) {
                handle(link.receive(file == null ? NEXT_FILE : CopyLink.PATIENCE));
            }
        } catch (ClosedException | PeerClosedException | PeerGoneException e) {
            interrupted("the connection ended in the middle of it: " + FailureText.of(e));
        } catch (RuntimeException e) {
            interrupted(FailureText.of(e));
            throw e;
        }
        return failures;
    }

    private void interrupted(String reason) {
        IncomingFile unfinished = file;
        if (unfinished != null) {
            give(unfinished, reason);
        }
    }

    private void handle(Note note) {
        switch (note.kind()) {
            case OFFER -> offer(note);
            case DATA -> data();
            case END -> end(note);
            case ABORT -> {
                if (file != null) {
                    give(file, "the sender gave up: " + note.text());
                }
            }
            default -> throw new CommandFailure("the sender sent " + note.kind() + " out of turn");
        }
    }

    private void offer(Note note) {
        if (file != null) {
            throw new CommandFailure("the sender offered a file within a file");
        }
        begin = System.nanoTime();
        received = 0;
        try {
            IncomingFile next = folder.create(Offer.of(note));
            file = next;
            listener.onBegin(next.offer().name(), next.offer().size());
            link.send(Note.of(Note.Kind.ACCEPT, note.number(0)));
        } catch (RefusedException e) {
            refuse(note, e.reason());
        } catch (IOException e) {
            refuse(note, FailureText.ofFile(e));
        }
    }

    private void refuse(Note offer, String reason) {
        failures++;
        listener.onFailed(offer.text(), reason);
        link.send(Note.of(Note.Kind.REFUSE, reason, offer.number(0)));
    }

    /// Data that belongs to no file is what was on its way when the file failed.
    private void data() {
        IncomingFile current = file;
        if (current != null) {
            try {
                received += link.data().remaining();
                current.append(link.data());
                listener.onProgress(received);
            } catch (IOException e) {
                fail(current, e);
            }
        }
        link.release();
    }

    private void end(Note note) {
        IncomingFile current = file;
        if (current == null) {
            return;
        }
        try {
            current.complete(note.number(1));
            file = null;
            listener.onDone(current.offer().name(), current.offer().size(), System.nanoTime() - begin);
            link.send(Note.of(Note.Kind.DONE, note.number(0)));
        } catch (IOException e) {
            fail(current, e);
        }
    }

    private void fail(IncomingFile current, IOException cause) {
        String reason = FailureText.ofFile(cause);
        give(current, reason);
        link.send(Note.of(Note.Kind.FAILED, reason, current.offer().number()));
    }

    private void give(IncomingFile current, String reason) {
        current.discard();
        file = null;
        failures++;
        listener.onFailed(current.offer().name(), reason);
    }
}
