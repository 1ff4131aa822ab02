import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.InputStreamRequestContent;
import org.eclipse.jetty.client.InputStreamResponseListener;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Promise;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/// HTTP and HTTPS between the servers and clients of Jetty and the JDK, each with each: `Requests KEYSTORE MEBIBYTES`.
/// The server sends back each body, in chunks if the request has no length, and the client compares it.
final class Requests {
    private static final String PASSWORD = "changeit";
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final int REQUESTS = 200;
    private static final int MOST_CONNECTIONS = 10;

    /// The ports of the clients, to see that they keep their connections.
    private static final Set<Integer> CLIENTS = ConcurrentHashMap.newKeySet();

    /// Sends a body and compares what comes back.
    private interface Client extends AutoCloseable {
        /// @param length -1 for a request in chunks
        void echo(URI to, long length, long seed) throws Exception;
    }

    private interface Service extends AutoCloseable {
        int port();
    }

    private Requests() {}

    public static void main(String[] arguments) throws Exception {
        SSLContext tls = tls(Path.of(arguments[0]));
        long large = Long.parseLong(arguments[1]) << 20;
        for (boolean secure : new boolean[] {false, true}) {
            try (Service jetty = jettyServer(secure ? tls : null);
                    Service jdk = jdkServer(secure ? tls : null)) {
                for (Service server : new Service[] {jetty, jdk}) {
                    try (Client client = jettyClient(tls)) {
                        run(name(secure, server == jetty, "Jetty"), client, secure, server, large);
                    }
                    try (Client client = jdkClient(tls)) {
                        run(name(secure, server == jetty, "the JDK"), client, secure, server, large);
                    }
                }
            }
        }
    }

    private static String name(boolean secure, boolean jetty, String client) {
        return (secure ? "HTTPS" : "HTTP") + " server of " + (jetty ? "Jetty" : "the JDK") + ", client of " + client;
    }

    private static void run(String name, Client client, boolean secure, Service server, long large) throws Exception {
        URI to = URI.create((secure ? "https" : "http") + "://127.0.0.1:" + server.port() + "/echo");
        CLIENTS.clear();
        for (int i = 0; i < REQUESTS; i++) {
            client.echo(to, i, i);
        }
        // A client may open a second one before the first is free again.
        if (CLIENTS.size() > MOST_CONNECTIONS) {
            throw new AssertionError(name + ": " + REQUESTS + " requests took " + CLIENTS.size() + " connections");
        }
        client.echo(to, -1, 1);
        client.echo(to, large, 2);
        try (var threads = Executors.newFixedThreadPool(8)) {
            Set<Callable<Void>> calls = new HashSet<>();
            for (int i = 0; i < 64; i++) {
                int seed = i;
                calls.add(() -> {
                    client.echo(to, (seed & 1) == 0 ? -1 : 10_000, seed);
                    return null;
                });
            }
            for (var call : threads.invokeAll(calls)) {
                call.get();
            }
        }
        System.out.println(name + ": " + (REQUESTS + 66) + " requests successful");
    }

    // ---- Bodies ----

    /// Bytes from a seed, read slowly enough to be sent in chunks.
    private static final class Body extends InputStream {
        private static final int DEFAULT = 100_000;

        private final Random random;
        private final CRC32C sum = new CRC32C();
        private long left;

        Body(long length, long seed) {
            this.random = new Random(seed);
            this.left = length < 0 ? DEFAULT : length;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) {
            if (left == 0) {
                return -1;
            }
            byte[] some = new byte[(int) Math.min(left, Math.min(length, 8192))];
            random.nextBytes(some);
            System.arraycopy(some, 0, bytes, offset, some.length);
            sum.update(some);
            left -= some.length;
            return some.length;
        }
    }

    private static void compare(int status, InputStream answer, long length, Body sent) throws IOException {
        if (status != 200) {
            throw new AssertionError("status " + status);
        }
        CRC32C sum = new CRC32C();
        long count = 0;
        byte[] some = new byte[65536];
        for (int bytes = answer.read(some); bytes >= 0; bytes = answer.read(some)) {
            sum.update(some, 0, bytes);
            count += bytes;
        }
        long expected = length < 0 ? Body.DEFAULT : length;
        if (count != expected || sent.left != 0 || sum.getValue() != sent.sum.getValue()) {
            throw new AssertionError(count + " bytes came back, not the same " + expected);
        }
    }

    // ---- TLS ----

    private static SSLContext tls(Path store) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream input = Files.newInputStream(store)) {
            keys.load(input, PASSWORD.toCharArray());
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
        own.init(keys, PASSWORD.toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
        trusted.init(keys);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    // ---- Jetty ----

    private static Service jettyServer(SSLContext tls) throws Exception {
        Server server = new Server();
        ServerConnector connector;
        if (tls == null) {
            connector = new ServerConnector(server);
        } else {
            SslContextFactory.Server secure = new SslContextFactory.Server();
            secure.setSslContext(tls);
            connector = new ServerConnector(server, secure);
        }
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                CLIENTS.add(Request.getRemotePort(request));
                // The client of the JDK wants no answer before it has sent the request.
                Content.Source.asByteBuffer(
                        request, Promise.from(body -> answer(request, response, callback, body), callback::failed));
                return true;
            }
        });
        server.start();
        return new Service() {
            @Override
            public int port() {
                return connector.getLocalPort();
            }

            @Override
            public void close() throws Exception {
                server.stop();
            }
        };
    }

    private static void answer(Request request, Response response, Callback callback, ByteBuffer body) {
        if (request.getLength() >= 0) {
            response.getHeaders().put("Content-Length", body.remaining());
        }
        response.write(
                false,
                body,
                Callback.from(() -> response.write(true, ByteBuffer.allocate(0), callback), callback::failed));
    }

    private static Client jettyClient(SSLContext tls) throws Exception {
        SslContextFactory.Client secure = new SslContextFactory.Client();
        secure.setSslContext(tls);
        ClientConnector connector = new ClientConnector();
        connector.setSslContextFactory(secure);
        HttpClient client = new HttpClient(new HttpClientTransportOverHTTP(connector));
        client.start();
        return new Client() {
            @Override
            @SuppressWarnings("deprecation")
            public void echo(URI to, long length, long seed) throws Exception {
                Body body = new Body(length, seed);
                InputStreamResponseListener answer = new InputStreamResponseListener();
                var request = client.newRequest(to).method("POST").timeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
                if (length >= 0 && length < 1 << 20) {
                    request.body(new BytesRequestContent(body.readAllBytes()));
                } else {
                    request.body(new InputStreamRequestContent(body));
                }
                request.send(answer);
                int status = answer.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS).getStatus();
                try (InputStream input = answer.getInputStream()) {
                    compare(status, input, length, body);
                }
            }

            @Override
            public void close() throws Exception {
                client.stop();
            }
        };
    }

    // ---- The JDK ----

    private static Service jdkServer(SSLContext tls) throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        HttpServer server;
        if (tls == null) {
            server = HttpServer.create(address, 0);
        } else {
            HttpsServer secure = HttpsServer.create(address, 0);
            secure.setHttpsConfigurator(new HttpsConfigurator(tls));
            server = secure;
        }
        var threads = Executors.newCachedThreadPool();
        server.setExecutor(threads);
        server.createContext("/echo", Requests::echo);
        server.start();
        return new Service() {
            @Override
            public int port() {
                return server.getAddress().getPort();
            }

            @Override
            public void close() {
                server.stop(0);
                threads.shutdownNow();
            }
        };
    }

    private static void echo(HttpExchange exchange) throws IOException {
        CLIENTS.add(exchange.getRemoteAddress().getPort());
        String length = exchange.getRequestHeaders().getFirst("Content-Length");
        byte[] body = exchange.getRequestBody().readAllBytes();
        // -1 is an empty body, 0 one in chunks.
        exchange.sendResponseHeaders(200, length == null ? 0 : body.length == 0 ? -1 : body.length);
        try (OutputStream output = exchange.getResponseBody()) {
            output.write(body);
        }
        exchange.close();
    }

    private static Client jdkClient(SSLContext tls) {
        var client = java.net.http.HttpClient.newBuilder()
                .version(Version.HTTP_1_1)
                .sslContext(tls)
                .build();
        return new Client() {
            @Override
            public void echo(URI to, long length, long seed) throws Exception {
                Body body = new Body(length, seed);
                var publisher = HttpRequest.BodyPublishers.ofInputStream(() -> body);
                HttpRequest request = HttpRequest.newBuilder(to)
                        .timeout(TIMEOUT)
                        .POST(length > 0 ? HttpRequest.BodyPublishers.fromPublisher(publisher, length)
                                : length == 0 ? HttpRequest.BodyPublishers.noBody() : publisher)
                        .build();
                var response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
                try (InputStream input = response.body()) {
                    compare(response.statusCode(), input, length, body);
                }
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }
}
