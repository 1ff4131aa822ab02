import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.http.server.Request;
import org.glassfish.grizzly.http.server.Response;
import org.glassfish.grizzly.http.server.StaticHttpHandler;

final class GrizzlyServer extends HttpProgram {
    private final HttpServer server = new HttpServer();

    @Override
    public int start(Path folder, Path file) throws Exception {
        NetworkListener listener = new NetworkListener("trial", "127.0.0.1", 0);
        server.addListener(listener);
        server.getServerConfiguration()
                .addHttpHandler(
                        new HttpHandler() {
                            @Override
                            public void service(Request request, Response response) throws Exception {
                                byte[] body = request.getInputStream().readAllBytes();
                                response.setHeader(PEER, Integer.toString(request.getRemotePort()));
                                response.setContentLength(body.length);
                                response.getOutputStream().write(body);
                            }
                        },
                        "/echo");
        StaticHttpHandler files = new StaticHttpHandler(folder.toString());
        // A cached file would be sent from memory.
        files.setFileCacheEnabled(false);
        server.getServerConfiguration().addHttpHandler(files, "/");
        server.getServerConfiguration().setSendFileEnabled(true);
        server.start();
        return listener.getPort();
    }

    @Override
    public void stop() throws Exception {
        server.shutdown(10, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS);
    }
}
