import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/// An HTTP server. It answers `POST /echo` with the same body once it has all of it, because the client of the JDK
/// reads no answer before it has sent its request. It answers `GET /file.bin` with the file, by the means that it has
/// for files. The header [#PEER] names the port of the client.
abstract class HttpProgram implements Program {
    static final String PEER = "Peer-Port";

    private static final Duration TIME_LIMIT = Duration.ofSeconds(120);
    private static final int REQUESTS = 90;
    private static final int MOST_CONNECTIONS = 10;
    private static final int THREADS = 8;

    /// The ports of the client, to see that it keeps its connections.
    private final Set<String> connections = ConcurrentHashMap.newKeySet();

    @Override
    public final String work(int port, Path file, int mebibytes) throws Exception {
        URI server = URI.create("http://127.0.0.1:" + port);
        int large = mebibytes << 20;
        try (HttpClient client = HttpClient.newBuilder().version(Version.HTTP_1_1).build()) {
            for (int i = 0; i < REQUESTS; i++) {
                echo(client, server, i, i, (i & 1) == 0);
            }
            // A client may open a second one before the first is free again.
            if (connections.size() > MOST_CONNECTIONS) {
                throw new AssertionError(REQUESTS + " requests took " + connections.size() + " connections");
            }
            echo(client, server, large, 2, true);
            echo(client, server, large, 3, false);
            file(client, server, file);
            atOnce(client, server, file);
        }
        return REQUESTS + 3 + 6 * THREADS + " requests, " + connections.size() + " connections";
    }

    private void atOnce(HttpClient client, URI server, Path file) throws Exception {
        CyclicBarrier begin = new CyclicBarrier(THREADS);
        connections.clear();
        List<Callable<Void>> calls = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int seed = 1000 * (i + 1);
            calls.add(() -> {
                begin.await(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
                echo(client, server, 1 << 20, seed, true);
                echo(client, server, 100_000, seed + 1, false);
                echo(client, server, 10_000, seed + 2, true);
                echo(client, server, 1, seed + 3, false);
                echo(client, server, 3_000_000, seed + 4, false);
                file(client, server, file);
                return null;
            });
        }
        try (var threads = Executors.newFixedThreadPool(THREADS)) {
            for (var call : threads.invokeAll(calls)) {
                call.get();
            }
        }
        if (connections.size() < 2) {
            throw new AssertionError(THREADS + " threads had a single connection");
        }
    }

    /// @param known whether the client tells the length, instead of sending chunks
    private void echo(HttpClient client, URI server, int length, long seed, boolean known) throws Exception {
        byte[] body = Bytes.of(length, seed);
        BodyPublisher publisher = known
                ? BodyPublishers.ofByteArray(body)
                : BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
        HttpRequest request = HttpRequest.newBuilder(server.resolve("/echo"))
                .timeout(TIME_LIMIT)
                .POST(publisher)
                .build();
        HttpResponse<byte[]> response = client.send(request, BodyHandlers.ofByteArray());
        check(response, "echo of seed " + seed, body);
        connections.add(response.headers().firstValue(PEER).orElseThrow());
    }

    private static void file(HttpClient client, URI server, Path file) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(server.resolve("/file.bin")).timeout(TIME_LIMIT).build();
        check(client.send(request, BodyHandlers.ofByteArray()), "file", Files.readAllBytes(file));
    }

    private static void check(HttpResponse<byte[]> response, String name, byte[] expected) {
        if (response.statusCode() != 200) {
            throw new AssertionError(name + ": status " + response.statusCode());
        }
        Bytes.check(name, expected, response.body());
    }
}
