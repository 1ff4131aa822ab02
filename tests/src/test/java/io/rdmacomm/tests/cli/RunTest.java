package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// `rdmacomm run`: programs that know nothing of RDMA.
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class RunTest {
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    private record Ended(int status, String out, String err) {}

    private static Ended run(List<String> options, String... command) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(
                JAVA,
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "io.rdmacomm.cli.RdmaCommand",
                "run"));
        words.addAll(options);
        words.add("--");
        words.addAll(List.of(command));
        ProcessBuilder builder = new ProcessBuilder(words);
        Map<String, String> environment = builder.environment();
        environment.put("JDK_JAVA_OPTIONS", "-Drdmacomm.test.kept=yes");
        Process process = builder.start();
        process.getOutputStream().close();
        Thread.Builder.OfVirtual reader = Thread.ofVirtual();
        StringBuilder err = new StringBuilder();
        Thread reading = reader.start(() -> {
            try {
                err.append(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                err.append(e);
            }
        });
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        reading.join();
        return new Ended(process.waitFor(), out, err.toString());
    }

    private static Ended runHttp(String... options) throws IOException, InterruptedException {
        return run(
                List.of(options),
                JAVA,
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Http.class.getName());
    }

    /// The HTTP server and client of the JDK.
    static final class Http {
        private Http() {}

        public static void main(String[] arguments) throws Exception {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                byte[] body = exchange.getRequestBody().readAllBytes();
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            });
            server.start();
            byte[] sent = new byte[500_000];
            new Random(1).nextBytes(sent);
            URI uri = URI.create("http://" + server.getAddress().getHostString() + ":"
                    + server.getAddress().getPort());
            int equal = 0;
            try (HttpClient client = HttpClient.newHttpClient()) {
                for (int i = 0; i < 5; i++) {
                    byte[] back = client.send(
                                    HttpRequest.newBuilder(uri)
                                            .POST(HttpRequest.BodyPublishers.ofByteArray(sent))
                                            .build(),
                                    HttpResponse.BodyHandlers.ofByteArray())
                            .body();
                    equal += Arrays.equals(sent, back) ? 1 : 0;
                }
            }
            server.stop(0);
            System.out.println(equal + " equal, kept " + System.getProperty("rdmacomm.test.kept"));
            System.exit(arguments.length);
        }
    }

    @Test
    void anHttpServerAndItsClientUseRdma() throws Exception {
        Ended ended = runHttp("--device", "soft0", "--rules", "127.0.0.0/8");
        assertThat(ended.out()).as(ended.err()).contains("5 equal, kept yes");
        assertThat(ended.err()).containsPattern("listen at 127.0.0.1:0: RDMA").containsPattern("connect to .*: RDMA");
        assertThat(ended.status()).isZero();
    }

    @Test
    void addressesThatNoRuleNamesStayWithTcp() throws Exception {
        Ended ended = runHttp("--device", "soft0", "--rules", "!*");
        assertThat(ended.out()).as(ended.err()).contains("5 equal");
        assertThat(ended.err())
                .contains("TCP, because no rule names the address")
                .doesNotContain(": RDMA");
    }

    @Test
    void theExitCodeIsThatOfTheProgram() throws Exception {
        Ended ended = run(List.of("--rules", "*", "--quiet"), "sh", "-c", "exit 7");
        assertThat(ended.status()).isEqualTo(7);
        assertThat(ended.err()).doesNotContain("rdmacomm:");
    }

    @Test
    void aProgramThatIsNoJavaProgramIsReported() throws Exception {
        assertThat(run(List.of("--rules", "*"), "true").err()).contains("no JVM has reported");
    }

    @Test
    void wrongUsageIsRejected() throws Exception {
        assertThat(run(List.of("--rules", "*"), "/no/such/program").status()).isEqualTo(2);
        assertThat(run(List.of(), "true").err()).contains("--rules");
        Ended wrong = runHttp("--rules", "nowhere");
        assertThat(wrong.status()).isEqualTo(2);
        assertThat(wrong.err()).contains("'nowhere' is no address");
    }
}
