import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

final class VertxServer extends HttpProgram {
    private final Vertx vertx = Vertx.vertx();

    @Override
    public int start(Path folder, Path file) throws Exception {
        HttpServer server = vertx.createHttpServer().requestHandler(request -> {
            if (request.path().equals("/echo")) {
                echo(request);
            } else {
                request.response().sendFile(file.toString());
            }
        });
        return server.listen(0, "127.0.0.1").await(60, TimeUnit.SECONDS).actualPort();
    }

    @Override
    public void stop() throws Exception {
        vertx.close().await(20, TimeUnit.SECONDS);
    }

    private static void echo(HttpServerRequest request) {
        request.body()
                .compose(body -> request.response()
                        .putHeader(PEER, Integer.toString(request.remoteAddress().port()))
                        .end(body))
                .onFailure(Throwable::printStackTrace);
    }
}
