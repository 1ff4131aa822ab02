package io.rdmacomm.compare.peer;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.agrona.IoUtil;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/// Aeron over shared memory (`aeron:ipc`). The media driver runs in the server, in one thread that sleeps when it has
/// nothing to do, because the two processors belong to the two ends. Both ends poll. Larger messages than a fragment
/// travel as several, which the receiver counts in place, without assembling them.
final class AeronPeer implements Peer {
    private static final String CHANNEL = "aeron:ipc";
    private static final int TO_SERVER = 1001;
    private static final int TO_CLIENT = 1002;
    private static final int FRAGMENT_BYTES = 65_504;
    private static final int POLL_LIMIT = 64;
    private static final int IDLE_POLLS = 0x7ff;

    /// A message can take an eighth of a term at most.
    private static final int TERM_MESSAGES = 8;
    private static final int DEFAULT_TERM_BYTES = 64 << 20;

    private final boolean stream;
    private final boolean smallLog;
    private long received;

    /// @param stream whether to measure a stream, or messages and their answers
    /// @param smallLog whether the log is as small as the messages allow, so that it stays in the processor's
    ///        cache, instead of the default of three times 64 MiB
    AeronPeer(boolean stream, boolean smallLog) {
        this.stream = stream;
        this.smallLog = smallLog;
    }

    private int termBytes(Task task) {
        return smallLog ? Math.max(1 << 16, Integer.highestOneBit(task.bytes()) * TERM_MESSAGES) : DEFAULT_TERM_BYTES;
    }

    private static String folder(Task task) {
        return Path.of("/dev/shm", "rdmacomm-compare-" + task.port()).toString();
    }

    private static Aeron connect(Task task) {
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(folder(task)));
    }

    @Override
    public void serve(Task task) {
        // Also if the comparison ends this process.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> IoUtil.delete(new File(folder(task)), true)));
        MediaDriver.Context context = new MediaDriver.Context()
                .aeronDirectoryName(folder(task))
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true)
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(new BackoffIdleStrategy())
                .ipcMtuLength(FRAGMENT_BYTES)
                .ipcTermBufferLength(termBytes(task));
        try (MediaDriver _ = MediaDriver.launch(context);
                Aeron aeron = connect(task);
                Subscription requests = aeron.addSubscription(CHANNEL, TO_SERVER);
                ExclusivePublication answers = aeron.addExclusivePublication(CHANNEL, TO_CLIENT)) {
            PollDeadline deadline = new PollDeadline(task);
            await(requests, answers, deadline);
            answerWhileConnected(requests, stream ? confirming(answers, deadline) : echoing(answers, deadline));
        }
    }

    private static FragmentHandler echoing(ExclusivePublication answers, PollDeadline deadline) {
        UnsafeBuffer message = new UnsafeBuffer(0, 0);
        return (buffer, offset, length, _) -> {
            message.wrap(buffer, offset, length);
            offer(answers, message, deadline);
        };
    }

    /// Answers the last message of every stream, which has one byte.
    private static FragmentHandler confirming(ExclusivePublication answers, PollDeadline deadline) {
        UnsafeBuffer answer = new UnsafeBuffer(new byte[1]);
        return (_, _, length, _) -> {
            if (length == 1) {
                offer(answers, answer, deadline);
            }
        };
    }

    private static void answerWhileConnected(Subscription requests, FragmentHandler handler) {
        int idle = 0;
        while (idle < IDLE_POLLS || requests.isConnected()) {
            idle = requests.poll(handler, POLL_LIMIT) > 0 ? 0 : idle + 1;
        }
    }

    @Override
    public double measure(Task task) throws IOException, InterruptedException {
        try (Aeron aeron = connect(task);
                ExclusivePublication requests = aeron.addExclusivePublication(CHANNEL, TO_SERVER);
                Subscription answers = aeron.addSubscription(CHANNEL, TO_CLIENT)) {
            PollDeadline deadline = new PollDeadline(task);
            await(answers, requests, deadline);
            UnsafeBuffer message = new UnsafeBuffer(ByteBuffer.allocateDirect(task.bytes()));
            FragmentHandler handler = (_, _, _, _) -> received++;
            if (!stream) {
                return task.micros(() -> {
                            offer(requests, message, deadline);
                            awaitAnswer(answers, handler, deadline);
                        })
                        / 2;
            }
            UnsafeBuffer last = new UnsafeBuffer(new byte[1]);
            return Streams.rate(task, messages -> {
                for (long i = 0; i < messages; i++) {
                    offer(requests, message, deadline);
                }
                offer(requests, last, deadline);
                awaitAnswer(answers, handler, deadline);
            });
        }
    }

    private void awaitAnswer(Subscription answers, FragmentHandler handler, PollDeadline deadline) {
        long before = received;
        deadline.begin();
        while (received == before) {
            answers.poll(handler, POLL_LIMIT);
            deadline.spend("no answer came");
        }
    }

    private static void offer(ExclusivePublication publication, UnsafeBuffer message, PollDeadline deadline) {
        deadline.begin();
        while (publication.offer(message) < 0) {
            deadline.spend("nobody took the messages");
        }
    }

    private static void await(Subscription subscription, ExclusivePublication publication, PollDeadline deadline) {
        deadline.begin();
        while (!subscription.isConnected() || !publication.isConnected()) {
            deadline.spend("the other side did not connect");
        }
    }
}
