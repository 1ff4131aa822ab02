package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.JavaCommand;
import io.rdmacomm.verbs.AccessFlag;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/// A peer in a process of its own, and the way to start it.
final class PeerProgram implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    private PeerProgram(Process process) {
        this.process = process;
        this.output = process.inputReader();
    }

    /// Starts [#main] with these arguments.
    static PeerProgram start(String... arguments) throws IOException {
        return start(List.of(), Map.of(), arguments);
    }

    /// Starts [#main] in another way.
    ///
    /// @param launcher the command that starts it and is replaced by it
    /// @param properties its system properties
    static PeerProgram start(List<String> launcher, Map<String, String> properties, String... arguments)
            throws IOException {
        List<String> options = new ArrayList<>(List.of("-Xmx256m"));
        properties.forEach((name, value) -> options.add("-D" + name + "=" + value));
        List<String> command = new ArrayList<>(launcher);
        command.addAll(JavaCommand.of(PeerProgram.class, options));
        command.addAll(List.of(arguments));
        return new PeerProgram(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    String readLine() throws IOException {
        return output.readLine();
    }

    /// Lets the program go on: its standard input ends.
    void goOn() throws IOException {
        process.getOutputStream().close();
    }

    /// kill -9.
    void kill() {
        process.destroyForcibly();
    }

    int awaitExit() throws InterruptedException {
        return process.waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /// `server`: prints its port, echoes messages of one client until it is done. `service PORT`: does that
    /// for any number of clients until its input ends. `client PORT [HOST]`: announces a buffer, says `ready`, and
    /// waits for the end of its input before it closes. `flood PORT`: sends without end, over soft0.
    public static void main(String[] arguments) throws IOException {
        if (arguments[0].equals("server")) {
            try (ServerSession session =
                    ServerSession.listen(SessionOptions.defaults().withAddress("127.0.0.1", 0))) {
                System.out.println(session.port());
                EndPoint endPoint = session.accept(TIMEOUT);
                endPoint.announce(session.allocate("target", 4096, 16), AccessFlag.allRemote());
                echo(session.allocate("echo", 64), endPoint);
            }
            return;
        }
        String host = arguments.length > 2 ? arguments[2] : "127.0.0.1";
        SessionOptions options = SessionOptions.defaults().withAddress(host, Integer.parseInt(arguments[1]));
        if (arguments[0].equals("service")) {
            serve(options);
            return;
        }
        if (arguments[0].equals("flood")) {
            flood(options.withDevice("soft0"));
            return;
        }
        try (ClientSession session = ClientSession.connect(options)) {
            session.endPoint().announce(session.allocate("target", 4096, 16), AccessFlag.allRemote());
            System.out.println("ready");
            String line = new BufferedReader(new InputStreamReader(System.in, java.nio.charset.StandardCharsets.UTF_8))
                    .readLine();
            System.out.println(line == null ? "closing" : line);
        }
    }

    private static void flood(SessionOptions options) {
        try (ClientSession session = ClientSession.connect(options)) {
            RdmaBuffer buffer = session.allocate("flood", 64);
            while (true) {
                session.endPoint().channel(0).blocking(TIMEOUT).send(buffer.block(0));
            }
        }
    }

    private static void serve(SessionOptions options) throws IOException {
        CompletableFuture<RdmaBuffer> target = new CompletableFuture<>();
        CompletableFuture<RdmaBuffer> answer = new CompletableFuture<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onEndPoint(EndPoint endPoint) {
                endPoint.channel(0).onMessage((channel, message) -> answer(answer.join(), endPoint, message));
                endPoint.announce(target.join(), AccessFlag.allRemote());
            }
        };
        try (ServerSession session = ServerSession.listen(options.withListener(listener))) {
            target.complete(session.allocate("target", 4096, 16));
            answer.complete(session.allocate("echo", 64));
            System.out.println(session.port());
            var _ = System.in.read();
        }
    }

    private static void echo(RdmaBuffer buffer, EndPoint endPoint) {
        endPoint.channel(0).onMessage((channel, message) -> answer(buffer, endPoint, message));
        endPoint.awaitPeerDone(TIMEOUT);
    }

    private static void answer(RdmaBuffer buffer, EndPoint endPoint, Message message) {
        buffer.segment().copyFrom(message.segment());
        var _ = endPoint.channel(0).async().send(buffer.slice(0, message.length()), message.tag());
    }
}
