package io.rdmacomm.tests.nio;

import io.rdmacomm.tests.fixture.SleepingThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/// A program that calls what `java.nio.channels` has for sockets and prints `case=outcome` for each case. It knows
/// nothing of RDMA: [AgentTakesNothingTest] runs it with and without the agent and compares the outcomes.
final class ChannelCases {
    private static final int SECONDS = 20;

    private static final Map<String, Callable<String>> CASES = new TreeMap<>();

    private ChannelCases() {}

    /// Runs all cases, or those that are named.
    public static void main(String[] names) throws Exception {
        StreamCases.addAll();
        OptionCases.addAll();
        FileCases.addAll();
        SelectorCases.addAll();
        ConnectionCases.addAll();
        for (Map.Entry<String, Callable<String>> one : CASES.entrySet()) {
            if (names.length == 0 || List.of(names).contains(one.getKey())) {
                System.out.println(one.getKey() + "=" + run(one.getValue()));
            }
        }
        System.out.flush();
        // A case that hangs has threads that nobody ends.
        System.exit(0);
    }

    private static String run(Callable<String> body) throws InterruptedException {
        return result(start(body)).replace('\n', ' ');
    }

    // ---- For the cases ----

    static void add(String name, Callable<String> body) {
        if (CASES.put(name, body) != null) {
            throw new IllegalArgumentException(name);
        }
    }

    /// A call in a thread of its own.
    record Started(Thread thread, FutureTask<String> task) {
        /// Waits until the thread has been blocked for a while, or its call has ended.
        Started awaitBlocked() throws InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            for (int seen = 0; seen < 4 && !task.isDone() && System.nanoTime() - deadline < 0; ) {
                LockSupport.parkNanos(20_000_000);
                seen = SleepingThreads.isAsleep(thread) ? seen + 1 : 0;
            }
            return this;
        }
    }

    static Started start(Callable<String> body) {
        FutureTask<String> task = new FutureTask<>(() -> outcome(body));
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return new Started(thread, task);
    }

    /// How a call ended.
    static String result(Started started) throws InterruptedException {
        try {
            return started.task().get(SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            return "does not end";
        } catch (ExecutionException e) {
            return "failed: " + e.getCause();
        }
    }

    interface Action {
        void run() throws Exception;
    }

    static String outcome(Action action) {
        return outcome(() -> {
            action.run();
            return "done";
        });
    }

    /// The value of a call, or its exception. The JVM itself writes the text of some, with names of local variables.
    static String outcome(Callable<?> body) {
        try {
            return String.valueOf(body.call());
        } catch (Throwable e) {
            String text = e.getMessage();
            return e.getClass().getName() + (text == null || text.contains(" because \"") ? "" : ": " + text);
        }
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
    }

    static ServerSocketChannel listen() throws IOException {
        return ServerSocketChannel.open().bind(anyPort());
    }

    /// Two connected channels.
    record Pair(SocketChannel client, SocketChannel server) implements AutoCloseable {
        static Pair connect() throws IOException {
            try (ServerSocketChannel listening = listen()) {
                SocketChannel client = SocketChannel.open(listening.getLocalAddress());
                return new Pair(client, listening.accept());
            }
        }

        @Override
        public void close() throws IOException {
            client.close();
            server.close();
        }
    }

    interface OfPair {
        String run(SocketChannel client, SocketChannel server) throws Exception;
    }

    /// A case with two connected channels.
    static void addPair(String name, OfPair body) {
        add(name, () -> {
            try (Pair pair = Pair.connect()) {
                return body.run(pair.client(), pair.server());
            }
        });
    }

    static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    /// Reads so many bytes from a blocking channel, or fewer at its end.
    static String read(SocketChannel channel, int count) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(count);
        while (target.hasRemaining() && channel.read(target) >= 0) {
            // More.
        }
        return StandardCharsets.US_ASCII.decode(target.flip()).toString();
    }

    /// Writes until nothing more is taken.
    static void fill(SocketChannel channel) throws IOException {
        ByteBuffer many = ByteBuffer.allocateDirect(1 << 20);
        int idle = 0;
        channel.configureBlocking(false);
        while (idle < 50) {
            idle = channel.write(many.clear()) == 0 ? idle + 1 : 0;
            LockSupport.parkNanos(1_000_000);
        }
        channel.configureBlocking(true);
    }
}
