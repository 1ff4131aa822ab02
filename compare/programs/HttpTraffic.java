import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;

/// Requests of the JDK's client to an HTTP server: 16 at once, each of which the server answers with the same bytes, 200
/// of them, and each tenth time 20,000.
final class HttpTraffic implements Loaded {
    private static final int AT_ONCE = 16;
    private static final int SHORT = 200;
    private static final int LONG = 20_000;
    private static final int LONG_EACH = 10;
    private static final int MOST_FAILURES = 5;

    private final HttpProgram server;

    HttpTraffic(HttpProgram server) {
        this.server = server;
    }

    @Override
    public int start(Path folder) throws Exception {
        Path file = Files.createFile(folder.resolve("file.bin"));
        return server.start(folder, file);
    }

    @Override
    public void stop() throws Exception {
        server.stop();
    }

    @Override
    public void begin(int port, Meter meter) {
        HttpClient client = HttpClient.newBuilder().version(Version.HTTP_1_1).build();
        URI address = URI.create("http://127.0.0.1:" + port + "/echo");
        for (int i = 0; i < AT_ONCE; i++) {
            new Requests(client, address, meter, i).next();
        }
    }

    private static final class Requests {
        private final HttpClient client;
        private final URI address;
        private final Meter meter;
        private final byte[] shortBody;
        private final byte[] longBody;
        private int number;
        private int failures;

        Requests(HttpClient client, URI address, Meter meter, int seed) {
            this.client = client;
            this.address = address;
            this.meter = meter;
            this.shortBody = Bytes.of(SHORT, seed);
            this.longBody = Bytes.of(LONG, seed);
        }

        private void next() {
            byte[] body = ++number % LONG_EACH == 0 ? longBody : shortBody;
            body[0]++;
            HttpRequest request = HttpRequest.newBuilder(address)
                    .POST(BodyPublishers.ofByteArray(body))
                    .build();
            client.sendAsync(request, BodyHandlers.ofByteArray()).whenComplete((response, failure) -> {
                if (failure != null && ++failures <= MOST_FAILURES) {
                    // The client may send a request on a connection that the server has just closed.
                    next();
                } else if (failure != null) {
                    meter.failed(failure);
                } else if (response.statusCode() != 200) {
                    meter.failed(new IOException("status " + response.statusCode()));
                } else {
                    answered(body, response.body());
                }
            });
        }

        private void answered(byte[] expected, byte[] found) {
            try {
                Bytes.check("an answer", expected, found);
                meter.done();
                next();
            } catch (AssertionError e) {
                meter.failed(e);
            }
        }
    }
}
