package io.rdmacomm.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.MessageHandler;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Thousands of virtual threads ask a server over one connection, as requests of a web server would. Each
/// question has a unique tag, which the server copies to its answer. So each thread gets the answer to its
/// question, and late answers are dropped.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.VirtualThreadsEcho [THREADS]
/// ```
public final class VirtualThreadsEcho {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int QUESTIONS = 4;
    private static final int QUESTION_BYTES = 32;
    private static final int ECHOES = 4;

    private final BlockingChannel channel;
    private final Answers answers;
    private final RdmaBuffer questions;

    private VirtualThreadsEcho(BlockingChannel channel, Answers answers, RdmaBuffer questions) {
        this.channel = channel;
        this.answers = answers;
        this.questions = questions;
    }

    /// Runs both sides.
    public static void main(String[] arguments) throws Exception {
        int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
        Answers answers = new Answers();
        SessionOptions options = SessionOptions.defaults().withAddress("localhost", 0);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client =
                        ClientSession.connect(options.withPort(server.port()).withListener(answers));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            serve(server);
            RdmaChannel channel = client.endPoint().channel(0);
            channel.onMessage(answers);
            RdmaBuffer questions = client.allocate("questions", QUESTION_BYTES, count);
            VirtualThreadsEcho example = new VirtualThreadsEcho(channel.blocking(PATIENCE), answers, questions);
            List<Callable<Integer>> callers = IntStream.range(0, count)
                    .<Callable<Integer>>mapToObj(caller -> () -> example.ask(caller))
                    .toList();
            int answered = 0;
            long begin = System.nanoTime();
            for (Future<Integer> caller : threads.invokeAll(callers)) {
                answered += caller.get();
            }
            double micros = (System.nanoTime() - begin) / 1000.0 / answered;
            System.out.printf("%d virtual threads got %d answers, one every %.1f us%n", count, answered, micros);
        }
    }

    /// Starts the threads of the server. Each takes the next message, from any thread of the client. They end
    /// with the connection.
    private static void serve(ServerSession server) {
        EndPoint endPoint = server.accept(PATIENCE);
        RdmaBuffer replies = server.allocate("replies", QUESTION_BYTES, ECHOES);
        for (int i = 0; i < ECHOES; i++) {
            BufferSlice reply = replies.block(i);
            Thread.ofVirtual().start(() -> echo(endPoint.channel(0).blocking(PATIENCE), reply));
        }
    }

    private static void echo(BlockingChannel channel, BufferSlice reply) {
        try {
            while (true) {
                try (Message question = channel.receive()) {
                    reply.segment().copyFrom(question.segment());
                    channel.send(reply.slice(0, question.length()), question.tag());
                }
            }
        } catch (ClosedException _) {
            // The client is done.
        }
    }

    /// Asks one question after the other, and returns the number of answers.
    private int ask(int caller) {
        for (int i = 0; i < QUESTIONS; i++) {
            String question = "question " + i + " of " + caller;
            MemorySegment bytes = MemorySegment.ofArray(question.getBytes(UTF_8));
            BufferSlice message = questions.block(caller).slice(0, bytes.byteSize());
            message.segment().copyFrom(bytes);
            String received = ask(message);
            if (!received.equals(question)) {
                throw new IllegalStateException("'" + received + "' answers '" + question + "'");
            }
        }
        return QUESTIONS;
    }

    private String ask(BufferSlice question) {
        // Before the question is sent, because the answer may come at once.
        int tag = answers.nextTag();
        CompletableFuture<String> answer = answers.expect(tag);
        try {
            channel.send(question, tag);
            return answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        } finally {
            // Also if there was no answer in time: a late one must be dropped.
            answers.forget(tag);
        }
    }

    /// Hands the answers to the waiting threads. Its methods run on threads of the library and do not block.
    private static final class Answers implements MessageHandler, SessionListener {
        private final Map<Integer, CompletableFuture<String>> expected = new ConcurrentHashMap<>();
        private final AtomicInteger tags = new AtomicInteger();

        /// A tag that no question has had, until all 2^32 were used.
        int nextTag() {
            return tags.incrementAndGet();
        }

        CompletableFuture<String> expect(int tag) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            expected.put(tag, answer);
            return answer;
        }

        void forget(int tag) {
            expected.remove(tag);
        }

        @Override
        public void onMessage(RdmaChannel channel, Message message) {
            CompletableFuture<String> answer = expected.get(message.tag());
            if (answer != null) {
                answer.complete(message.text());
            }
        }

        /// Fails the threads whose answers can no longer arrive.
        @Override
        public void onEnd(EndPoint endPoint, @Nullable RdmaException failure) {
            RdmaException reason = failure == null ? new RdmaException("the server is gone", null) : failure;
            expected.values().forEach(answer -> answer.completeExceptionally(reason));
        }
    }
}
