package io.rdmacomm.examples;

import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.SessionOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// A service with values in memory that its clients READ under leases. Read [BlockServer], [BlockIndex] and
/// [BlockClient], in this order. Without arguments, it runs a server and its clients, which check what they read while
/// values are replaced and evicted.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.BlockService [server PORT MIB | client PORT SECONDS]
/// ```
public final class BlockService {
    private static final int CLIENTS = 3;
    private static final int KEYS = 150;
    private static final int TURNS_OF_PUT = 64;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private BlockService() {}

    /// Runs one side, or all.
    public static void main(String[] arguments) throws Exception {
        SessionOptions options = SessionOptions.defaults();
        if (arguments.length == 3 && arguments[0].equals("server")) {
            serve(options.withPort(Integer.parseInt(arguments[1])), Long.parseLong(arguments[2]) << 20);
        } else if (arguments.length == 3 && arguments[0].equals("client")) {
            work(options.withPort(Integer.parseInt(arguments[1])), 0, Long.parseLong(arguments[2]));
        } else {
            demonstrate(options.withPort(0), arguments.length > 0 ? Long.parseLong(arguments[0]) : 3);
        }
    }

    private static void serve(SessionOptions options, long limit) throws InterruptedException {
        try (BlockServer server = new BlockServer(options, limit)) {
            System.out.println("listening on port " + server.port());
            new CountDownLatch(1).await();
        }
    }

    private static void demonstrate(SessionOptions options, long seconds) throws Exception {
        try (BlockServer server = new BlockServer(options, 32 << 20);
                ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<?>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                clients.add(threads.submit(() -> work(options.withPort(server.port()), number, seconds)));
            }
            for (Future<?> client : clients) {
                client.get();
            }
            System.out.println("the server has " + server.statistics().pieces() + " values in memory");
        }
    }

    /// Reads the values of all clients, and stores its own when they are absent, or now and then.
    private static void work(SessionOptions options, int number, long seconds) {
        Random random = new Random(number);
        long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        long reads = 0;
        try (BlockClient client = new BlockClient(options, TIMEOUT, 1000)) {
            RdmaBuffer buffer = client.allocate(BlockServer.LONGEST);
            for (int turn = 1; System.nanoTime() < end; turn++) {
                int key = random.nextInt(CLIENTS * KEYS);
                int length = client.get("block " + key, buffer.whole());
                if (length > 0) {
                    check(buffer.segment().asSlice(0, length).asByteBuffer(), key);
                    reads++;
                }
                if (key % CLIENTS == number && (length == 0 || turn % TURNS_OF_PUT == 0)) {
                    int words = random.nextInt(1, BlockServer.LONGEST / Long.BYTES + 1);
                    fill(buffer.segment().asByteBuffer().limit(words * Long.BYTES), key, turn);
                    client.put("block " + key, buffer.segment().asSlice(0, (long) words * Long.BYTES));
                }
            }
        }
        System.out.printf("client %d has read %d values%n", number, reads);
    }

    /// Makes all words of a value the same.
    private static void fill(ByteBuffer value, int key, int version) {
        while (value.hasRemaining()) {
            value.putInt(key).putInt(version);
        }
    }

    /// Fails if a value is not that of the key, or a mixture of two.
    private static void check(ByteBuffer value, int key) {
        int version = value.getInt(Integer.BYTES);
        while (value.hasRemaining()) {
            if (value.getInt() != key || value.getInt() != version) {
                throw new IllegalStateException("block " + key + " has a wrong word before " + value.position());
            }
        }
    }
}
