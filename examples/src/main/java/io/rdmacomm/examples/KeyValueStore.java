package io.rdmacomm.examples;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// A key-value store in the memory of a passive server: clients GET with READ, and PUT with WRITE under a lock that
/// they take with compare-and-swap. A checksum detects values that were read during a write. Read [KeyValueEntry],
/// [KeyValueClient] and [KeyValueServer], in this order.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.KeyValueStore [PUTS]
/// ```
public final class KeyValueStore {
    private static final int CLIENTS = 4;
    private static final int KEYS = 4;
    private static final int LONGEST = 4000;

    private KeyValueStore() {}

    /// Runs the server and all clients.
    public static void main(String[] arguments) throws Exception {
        int puts = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
        SessionOptions options = SessionOptions.defaults().withAddress("localhost", 0);
        try (KeyValueServer server = new KeyValueServer(options);
                ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            // CALLER: the thread that waits for an operation polls for it, which is fastest. Do not use it with
            // virtual threads: one that hardly ever blocks keeps others from running.
            SessionOptions toServer = options.withPort(server.port()).withThreadMode(ThreadMode.CALLER);
            dieWithLock(toServer);
            List<Future<Long>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                Random random = new Random(i);
                clients.add(threads.submit(() -> work(toServer, puts, random)));
            }
            long tornReads = 0;
            for (Future<Long> client : clients) {
                tornReads += client.get();
            }
            System.out.printf(
                    "%d clients, %d PUTs and %d GETs each: %d reads were torn and repeated%n",
                    CLIENTS, puts, puts, tornReads);
            checkVersions(toServer, (long) CLIENTS * puts);
        }
    }

    /// Runs a client that dies while it holds a lock. Others get the lock when the server has noticed that.
    private static void dieWithLock(SessionOptions options) {
        try (ClientSession session = ClientSession.connect(options)) {
            new KeyValueClient(session).lock(0);
            session.endPoint().abort(1, new RdmaException("this client dies on purpose", null));
        }
    }

    /// Puts and gets a few keys that all clients use. All characters of a value are the same, which exposes a
    /// mixture of two values.
    private static long work(SessionOptions options, int puts, Random random) {
        try (ClientSession session = ClientSession.connect(options)) {
            KeyValueClient client = new KeyValueClient(session);
            for (int i = 0; i < puts; i++) {
                String letter = Character.toString(random.nextInt('a', 'z' + 1));
                client.put(random.nextInt(KEYS), letter.repeat(random.nextInt(1, LONGEST)));
                String value = client.get(random.nextInt(KEYS));
                if (value.chars().distinct().count() > 1) {
                    throw new IllegalStateException("a torn value was not noticed: " + value);
                }
            }
            return client.tornReads();
        }
    }

    /// No PUT may have overwritten another one without seeing it.
    private static void checkVersions(SessionOptions options, long puts) {
        try (ClientSession session = ClientSession.connect(options)) {
            KeyValueClient client = new KeyValueClient(session);
            long versions = 0;
            for (int key = 0; key < KEYS; key++) {
                versions += client.version(key);
            }
            if (versions != puts) {
                throw new IllegalStateException(puts + " PUTs made " + versions + " versions");
            }
        }
    }
}
