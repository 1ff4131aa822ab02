package io.rdmacomm.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.Requests;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/// Thousands of virtual threads ask a server over one connection, like the requests of a web server. The server
/// copies the tag of each question to its answer, so each thread gets the answer to its own question.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.VirtualThreadsEcho [THREADS]
/// ```
public final class VirtualThreadsEcho {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int QUESTIONS = 4;
    private static final int ECHOES = 4;

    private VirtualThreadsEcho() {}

    /// Runs both sides.
    public static void main(String[] arguments) throws Exception {
        int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
        SessionOptions options = SessionOptions.defaults().withAddress("localhost", 0);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            serve(server.accept(TIMEOUT));
            Requests requests = Requests.on(client.endPoint().channel(0));
            List<Callable<Integer>> callers = IntStream.range(0, count)
                    .<Callable<Integer>>mapToObj(caller -> () -> ask(requests, caller))
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

    /// Starts the threads of the server. Each takes the next message from any thread of the client. They end with
    /// the connection.
    private static void serve(EndPoint endPoint) {
        for (int i = 0; i < ECHOES; i++) {
            Thread.ofVirtual().start(() -> echo(endPoint.channel(0).blocking(TIMEOUT)));
        }
    }

    private static void echo(BlockingChannel channel) {
        try {
            while (true) {
                try (Message question = channel.receive()) {
                    channel.send(question.segment(), question.tag());
                }
            }
        } catch (ClosedException _) {
            // The client is done.
        }
    }

    /// Asks one question after the other, and returns the number of answers.
    private static int ask(Requests requests, int caller) {
        for (int i = 0; i < QUESTIONS; i++) {
            String question = "question " + i + " of " + caller;
            try (Message answer = requests.call(question.getBytes(UTF_8), TIMEOUT)) {
                if (!answer.text().equals(question)) {
                    throw new IllegalStateException("'" + answer.text() + "' answers '" + question + "'");
                }
            }
        }
        return QUESTIONS;
    }
}
