import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

final class TomcatServer extends HttpProgram {
    private final Tomcat tomcat = new Tomcat();

    @Override
    public int start(Path folder, Path file) throws Exception {
        tomcat.setBaseDir(folder.resolve("tomcat").toString());
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", folder.toString());
        Tomcat.addServlet(context, "trial", new Answers(file)).addMapping("/*");
        tomcat.start();
        return connector.getLocalPort();
    }

    @Override
    public void stop() throws Exception {
        tomcat.stop();
        tomcat.destroy();
    }

    private static final class Answers extends HttpServlet {
        private final Path file;

        Answers(Path file) {
            this.file = file;
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            byte[] body = request.getInputStream().readAllBytes();
            response.setHeader(PEER, Integer.toString(request.getRemotePort()));
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            if (!Boolean.TRUE.equals(request.getAttribute("org.apache.tomcat.sendfile.support"))) {
                throw new IOException("Tomcat sends no file");
            }
            long size = Files.size(file);
            response.setContentLengthLong(size);
            request.setAttribute("org.apache.tomcat.sendfile.filename", file.toRealPath().toString());
            request.setAttribute("org.apache.tomcat.sendfile.start", 0L);
            request.setAttribute("org.apache.tomcat.sendfile.end", size);
        }
    }
}
