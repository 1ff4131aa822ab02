import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.server.handlers.resource.PathResourceManager;
import io.undertow.util.HttpString;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;

final class UndertowServer extends HttpProgram {
    private static final int LEAST_TRANSFER = 1024;

    private Undertow server;

    @Override
    public int start(Path folder, Path file) {
        server = Undertow.builder()
                .addHttpListener(0, "127.0.0.1")
                .setServerOption(UndertowOptions.MAX_ENTITY_SIZE, -1L)
                .setHandler(Handlers.path()
                        .addExactPath("/echo", new BlockingHandler(UndertowServer::echo))
                        .addPrefixPath("/", Handlers.resource(new PathResourceManager(folder, LEAST_TRANSFER))))
                .build();
        server.start();
        return ((InetSocketAddress) server.getListenerInfo().getFirst().getAddress()).getPort();
    }

    @Override
    public void stop() {
        server.stop();
    }

    private static void echo(HttpServerExchange exchange) throws IOException {
        byte[] body = exchange.getInputStream().readAllBytes();
        exchange.getResponseHeaders()
                .put(new HttpString(PEER), exchange.getSourceAddress().getPort());
        exchange.setResponseContentLength(body.length);
        exchange.getOutputStream().write(body);
    }
}
