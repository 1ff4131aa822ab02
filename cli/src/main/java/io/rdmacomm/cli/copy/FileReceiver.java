package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.PeerFailedException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The receiver's side of one connection: stores one file after another until the sender disconnects.
final class FileReceiver {
    private static final Duration NEXT_FILE = Duration.ofMinutes(1);
    private static final int MOST_FOLDERS = 256;

    private final ReceiverLink link;
    private final IncomingFolder incoming;
    private final CopyProgress progress;
    /// The accepted files that are not complete, in the order of their data.
    private final Deque<Accepted> accepted = new ArrayDeque<>();
    /// The directories that the sender has entered, by the numbers of their offers.
    private final Map<Long, Path> folders = new HashMap<>();
    private long last;
    private int failures;

    /// An accepted file or directory.
    ///
    /// @param file null if it is a directory
    private record Accepted(Offer offer, @Nullable IncomingFile file) {}

    /// Stores the files that arrive over `link` in `incoming`.
    FileReceiver(ReceiverLink link, IncomingFolder incoming, CopyProgress progress) {
        this.link = link;
        this.incoming = incoming;
        this.progress = progress;
        folders.put(0L, incoming.root());
    }

    /// Receives files until the sender disconnects.
    ///
    /// @return how many files failed
    int run() {
        try {
            while (true) {
                handle(link.receive(accepted.isEmpty() ? NEXT_FILE : CopyLink.TIMEOUT));
            }
        } catch (ClosedException | PeerFailedException e) {
            endUnfinished("the connection ended before the file was complete: " + FailureText.of(e));
        } catch (RuntimeException | Error e) {
            endUnfinished(FailureText.of(e));
            throw e;
        }
        return failures;
    }

    /// Reports only the first unfinished file: a line for each offered file would be too much.
    private void endUnfinished(String reason) {
        boolean reported = false;
        for (Accepted each : accepted) {
            failures++;
            IncomingFile file = each.file();
            if (file != null) {
                file.interrupt();
            }
            if (!reported) {
                progress.onFailed(each.offer().name(), reason);
                reported = true;
            }
        }
        accepted.clear();
    }

    private void handle(Frame<CopyMessage> frame) {
        switch (frame.kind()) {
            case OFFER -> onOffer(frame);
            case DATA -> onData(frame.number(2));
            case END -> onEnd(frame.number(0), frame.number(1));
            case ABORT -> onAbort(frame.number(0), frame.text());
            case BUSY -> {
                // The sender is alive.
            }
            default -> throw unexpected(frame);
        }
    }

    private static CommandFailure unexpected(Frame<CopyMessage> frame) {
        return new CommandFailure("the sender sent an unexpected " + frame.kind() + " message");
    }

    private void onOffer(Frame<CopyMessage> frame) {
        long number = frame.number(0);
        if (number <= last || accepted.size() >= FileSender.WINDOW) {
            throw new CommandFailure("the sender offered too much, or in the wrong order");
        }
        last = number;
        try {
            accept(Offer.of(frame));
        } catch (RejectedFileException e) {
            reject(frame, e.reason());
        } catch (IOException e) {
            reject(frame, FailureText.ofFile(e));
        }
    }

    private void accept(Offer offer) throws RejectedFileException, IOException {
        Path folder = folders.get(offer.folder());
        if (folder == null) {
            throw new RejectedFileException("its directory was not accepted");
        }
        switch (offer.kind()) {
            case FILE -> acceptFile(folder, offer);
            case FOLDER -> {
                if (folders.size() > MOST_FOLDERS) {
                    throw new RejectedFileException("more than " + MOST_FOLDERS + " nested directories");
                }
                folders.put(offer.number(), incoming.enter(folder, offer));
                accept(new Accepted(offer, null), 0);
            }
            case FOLDER_END -> accept(new Accepted(offer, null), 0);
        }
    }

    private void acceptFile(Path folder, Offer offer) throws RejectedFileException, IOException {
        IncomingFile file = incoming.plan(folder, offer);
        if (file == null) {
            progress.onSkipped(offer.name(), "it exists already");
            link.send(Frame.of(CopyMessage.SKIP, offer.number()));
            return;
        }
        boolean ready = false;
        try {
            if (file.offset() < offer.size()) {
                link.prepare();
            }
            ready = true;
        } finally {
            if (!ready) {
                file.discard();
            }
        }
        accept(new Accepted(offer, file), file.offset());
    }

    private void accept(Accepted next, long offset) {
        accepted.add(next);
        link.send(Frame.of(CopyMessage.ACCEPT, next.offer().number(), offset));
    }

    private void reject(Frame<CopyMessage> offer, String reason) {
        failures++;
        progress.onFailed(Offer.name(offer), reason);
        link.send(Frame.of(CopyMessage.REJECT, reason, offer.number(0)));
    }

    /// The file that a message refers to, which is the first accepted one; null if it failed while the message was
    /// in flight.
    private @Nullable Accepted current(long number) {
        Accepted first = accepted.peek();
        if (first != null && first.offer().number() == number) {
            return first;
        }
        if (number > last || (first != null && number > first.offer().number())) {
            throw new CommandFailure("the sender sent data in the wrong order");
        }
        return null;
    }

    private void onData(long number) {
        Accepted current = current(number);
        IncomingFile file = current == null ? null : current.file();
        if (file != null) {
            try {
                open(file);
                link.data(file::append);
                progress.onProgress(file.position());
            } catch (IOException e) {
                fail(file, e);
            }
        }
        link.release();
    }

    private void open(IncomingFile file) throws IOException {
        if (!file.isOpen()) {
            progress.onBegin(file.offer().name(), file.offer().size(), file.offset());
            file.open(new BusySignal(link));
        }
    }

    private void onEnd(long number, long checksum) {
        Accepted current = current(number);
        if (current == null) {
            return;
        }
        IncomingFile file = current.file();
        if (file == null) {
            accepted.remove();
            endFolder(current.offer());
            return;
        }
        try {
            open(file);
            StoredFile stored = file.complete(checksum);
            accepted.remove();
            if (!stored.warning().isEmpty()) {
                progress.onWarning(stored.name(), stored.warning());
            }
            progress.onDone(stored.name(), file.offer().size());
            link.send(stored.toFrame(number));
        } catch (IOException e) {
            fail(file, e);
        }
    }

    /// Sets the permissions and the time of a directory, once its content is complete.
    private void endFolder(Offer offer) {
        String warning = "";
        if (offer.kind() == Offer.Kind.FOLDER_END && offer.folder() != 0) {
            Path folder = folders.remove(offer.folder());
            if (folder == null) {
                throw new CommandFailure("the sender ended a directory twice");
            }
            warning = leave(folder, offer);
        }
        link.send(new StoredFile("", warning).toFrame(offer.number()));
    }

    private String leave(Path folder, Offer offer) {
        String warning;
        try {
            incoming.check(folder);
            warning = incoming.attributes().apply(offer, folder);
        } catch (IOException e) {
            warning = FailureText.ofFile(e);
        }
        if (!warning.isEmpty()) {
            progress.onWarning(String.valueOf(folder.getFileName()), warning);
        }
        return warning;
    }

    private void onAbort(long number, String reason) {
        Accepted current = current(number);
        if (current != null) {
            drop(current, "the sender gave up: " + reason);
        }
    }

    private void fail(IncomingFile file, IOException cause) {
        String reason = FailureText.ofFile(cause);
        drop(accepted.element(), reason);
        link.send(Frame.of(CopyMessage.FAILED, reason, file.offer().number()));
    }

    private void drop(Accepted current, String reason) {
        accepted.remove();
        IncomingFile file = current.file();
        if (file != null) {
            file.discard();
        }
        failures++;
        progress.onFailed(current.offer().name(), reason);
    }
}
