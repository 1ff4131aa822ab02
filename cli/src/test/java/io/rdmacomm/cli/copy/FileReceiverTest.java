package io.rdmacomm.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.verbs.DeadlineException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The limits of a sender.
class FileReceiverTest {
    // As on the wire.
    private static final long FILE = 0;
    private static final long FOLDER = 1;

    @TempDir
    private Path directory;

    private final List<String> failures = new ArrayList<>();

    private static Frame<CopyMessage> offer(long number, long folder, long kind) {
        byte[] name = (kind == FOLDER ? "n" : "n" + number).getBytes(StandardCharsets.UTF_8);
        return Frame.of(CopyMessage.OFFER, name, number, folder, kind, 0, 0700, 0, 0, 0, 0);
    }

    private static Frame<CopyMessage> end(long number) {
        return Frame.of(CopyMessage.END, number, 0);
    }

    private int run(Script link) throws IOException {
        try (IncomingFolder incoming = new IncomingFolder(directory, false, null)) {
            return new FileReceiver(link, incoming, new Failures()).run();
        }
    }

    @Test
    void aSenderOffersSixtyFourFilesAheadAndNoMore() {
        Script link = new Script();
        for (int number = 1; number <= 65; number++) {
            link.frames.add(offer(number, 0, FILE));
        }
        assertThatThrownBy(() -> run(link)).isInstanceOf(CommandFailure.class).hasMessageContaining("offered too much");
        assertThat(link.answers(CopyMessage.ACCEPT)).isEqualTo(64);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void directoriesInEachOtherEndAtTheirLimit() throws IOException {
        Script link = new Script();
        for (int number = 1; number <= 258; number++) {
            link.frames.add(offer(number, number - 1, FOLDER));
            if (number <= 256) {
                link.frames.add(end(number));
            }
        }
        assertThat(run(link)).isEqualTo(2);
        assertThat(link.answers(CopyMessage.ACCEPT)).isEqualTo(256);
        assertThat(failures.get(0)).contains("more than 256 nested directories");
        assertThat(failures.get(1)).contains("its directory was not accepted");
    }

    @Test
    void aSenderMayBeSilentForAMinuteBetweenFiles() {
        Script link = new Script();
        link.silent = true;
        assertThatThrownBy(() -> run(link)).isInstanceOf(DeadlineException.class);
        assertThat(link.lastTimeout).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void aSenderMayBeSilentForHalfAMinuteInAFile() {
        Script link = new Script();
        link.silent = true;
        link.frames.add(offer(1, 0, FILE));
        assertThatThrownBy(() -> run(link)).isInstanceOf(DeadlineException.class);
        assertThat(link.lastTimeout).isEqualTo(Duration.ofSeconds(30));
        assertThat(directory).isEmptyDirectory();
    }

    /// A sender whose messages are known before. Then it disconnects, or says nothing.
    private static final class Script implements ReceiverLink {
        final Deque<Frame<CopyMessage>> frames = new ArrayDeque<>();
        final List<Frame<CopyMessage>> sent = new ArrayList<>();
        boolean silent;
        Duration lastTimeout = Duration.ZERO;

        long answers(CopyMessage kind) {
            return sent.stream().filter(frame -> frame.kind() == kind).count();
        }

        @Override
        public void send(Frame<CopyMessage> frame) {
            sent.add(frame);
        }

        @Override
        public Frame<CopyMessage> receive(Duration timeout) {
            lastTimeout = timeout;
            Frame<CopyMessage> next = frames.poll();
            if (next == null) {
                throw silent ? new DeadlineException("silence", null) : new ClosedException("done", null);
            }
            return next;
        }

        @Override
        public void prepare() {}

        @Override
        public void data(Sink sink) {}

        @Override
        public void release() {}

        @Override
        public void close() {}
    }

    private final class Failures implements CopyProgress {
        @Override
        public void onBegin(String name, long size, long there) {}

        @Override
        public void onProgress(long bytes) {}

        @Override
        public void onDone(String name, long size) {}

        @Override
        public void onSkipped(String name, String why) {}

        @Override
        public void onFailed(String name, String reason) {
            failures.add(reason);
        }

        @Override
        public void onWarning(String name, String reason) {}
    }
}
