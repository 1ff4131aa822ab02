package io.rdmacomm.tests.bench;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.RdmaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/// Shared receives beside receives of each channel's own, where it is hardest: many clients begin at once, in
/// new processes whose code is not compiled yet, and other programs keep the processors busy. Prints the answers
/// that the clients got in each round, and the ratio.
///
/// ```
/// mvn -pl tests -am -Pjmh test -Djmh.main=io.rdmacomm.tests.bench.ColdClients -Djmh.args='ROUNDS CLIENTS BUSY SECONDS'
/// ```
public final class ColdClients {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final SessionOptions OPTIONS = SessionOptions.defaults()
            .withDeadlines(Deadlines.defaults().withConnect(TIMEOUT).withHandshake(TIMEOUT));
    private static final int TOGETHER = 10;
    private static final int BYTES = 64;

    private ColdClients() {}

    /// Runs all rounds, or is one of the two processes of a round.
    public static void main(String[] arguments) throws Exception {
        List<String> rest = new ArrayList<>(List.of(arguments));
        String role = rest.isEmpty() || Character.isDigit(rest.getFirst().charAt(0)) ? "rounds" : rest.removeFirst();
        int[] numbers = rest.stream().mapToInt(Integer::parseInt).toArray();
        switch (role) {
            case "shared" -> serve(SharedReceives.of(1024, 100));
            case "own" -> serve(null);
            case "clients" -> ask(numbers[0], numbers[1], numbers[2]);
            default ->
                rounds(number(numbers, 0, 3), number(numbers, 1, 50), number(numbers, 2, 2), number(numbers, 3, 5));
        }
    }

    private static int number(int[] given, int index, int otherwise) {
        return index < given.length ? given[index] : otherwise;
    }

    private static void rounds(int rounds, int clients, int busy, int seconds) throws Exception {
        for (int i = 0; i < busy; i++) {
            Thread.ofPlatform().daemon().start(() -> {
                while (true) {
                    Thread.onSpinWait();
                }
            });
        }
        double product = 1;
        for (int round = 0; round < rounds; round++) {
            long shared = measure("shared", clients, seconds);
            long own = measure("own", clients, seconds);
            double ratio = (double) shared / Math.max(1, own);
            product *= ratio;
            System.out.printf(Locale.ROOT, "shared %,d own %,d answers: %.2f%n", shared, own, ratio);
        }
        System.out.printf(Locale.ROOT, "geometric mean of %d ratios: %.2f%n", rounds, Math.pow(product, 1.0 / rounds));
    }

    private static long measure(String receives, int clients, int seconds) throws IOException, InterruptedException {
        Process server = start(receives);
        try (BufferedReader port = server.inputReader()) {
            Process asking = start("clients", port.readLine(), String.valueOf(clients), String.valueOf(seconds));
            try (BufferedReader answers = asking.inputReader()) {
                return Long.parseLong(answers.readLine());
            } finally {
                asking.destroyForcibly().waitFor();
            }
        } finally {
            server.destroyForcibly().waitFor();
        }
    }

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                ColdClients.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /// Answers each message with another one.
    private static void serve(SharedReceives shared) throws InterruptedException {
        SessionListener listener = new SessionListener() {
            @Override
            public void onEndPoint(EndPoint client) {
                BufferSlice answer = client.session().allocate(BYTES, 1).block(0);
                RdmaChannel channel = client.channel(0);
                channel.onMessage((on, message) -> {
                    if (!on.trySend(answer, message.tag(), CompletionHandler.NONE, 0)
                            .isAccepted()) {
                        // Until there is room; no library thread is blocked by that.
                        var _ = on.async(TIMEOUT).send(answer, message.tag());
                    }
                });
            }
        };
        SessionOptions options = OPTIONS.withAddress("127.0.0.1", 0)
                .withThreadMode(ThreadMode.SHARED_CQ)
                .withListener(listener);
        try (ServerSession server =
                ServerSession.listen(shared == null ? options : options.withSharedReceives(shared))) {
            System.out.println(server.port());
            new CountDownLatch(1).await();
        }
    }

    /// Clients that each have [#TOGETHER] requests under way.
    private static void ask(int port, int clients, int seconds) throws InterruptedException {
        LongAdder answers = new LongAdder();
        AtomicInteger failed = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(clients);
        for (int i = 0; i < clients; i++) {
            Thread.ofPlatform().daemon().start(() -> {
                try (ClientSession client = ClientSession.connect(OPTIONS.withAddress("127.0.0.1", port))) {
                    begun.countDown();
                    ask(client, answers);
                } catch (RdmaException | InterruptedException e) {
                    failed.incrementAndGet();
                    begun.countDown();
                }
            });
        }
        if (!begun.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
            System.err.println(begun.getCount() + " clients could not begin");
        }
        long before = answers.sum();
        TimeUnit.SECONDS.sleep(seconds);
        System.out.println(answers.sum() - before);
        if (failed.get() > 0) {
            System.err.println(failed + " of " + clients + " clients have failed");
        }
    }

    private static void ask(ClientSession client, LongAdder answers) throws InterruptedException {
        RdmaChannel channel = client.endPoint().channel(0);
        Semaphore room = new Semaphore(TOGETHER);
        channel.onMessage((on, message) -> {
            answers.increment();
            room.release();
        });
        RdmaBuffer requests = client.allocate(BYTES, TOGETHER);
        BlockingChannel sending = channel.blocking(TIMEOUT);
        for (int tag = 0; ; tag++) {
            room.acquire();
            sending.send(requests.block(tag % TOGETHER), tag);
        }
    }
}
