package io.rdmacomm.examples;

import io.rdmacomm.comm.Admission;
import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.MessageHandler;
import io.rdmacomm.comm.MovableSlice;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import java.time.Duration;

/// Sends messages back and forth between a server and a client, here in one program.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.PingPong [ROUNDS]
/// ```
public final class PingPong {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int WARM_UPS = 20;

    private PingPong() {}

    /// Runs both sides.
    public static void main(String[] arguments) {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1000;
        SessionOptions options = SessionOptions.defaults().withAddress("localhost", 0);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
            serve(server);
            RdmaBuffer text = client.allocate("text", 64);
            double cold = ping(client, text, rounds);
            System.out.printf("%d messages back and forth in a new JVM, %.2f us each%n", rounds, cold);
            // After these rounds, the JIT compilers have done most of their work.
            for (int i = 0; i < WARM_UPS; i++) {
                ping(client, text, rounds);
            }
            System.out.printf("and once it is warm, %.2f us each%n", ping(client, text, rounds));
        }
    }

    /// Echoes every message. The handler runs on a thread of the library, so it must not block.
    private static void serve(ServerSession server) {
        EndPoint endPoint = server.accept(TIMEOUT);
        RdmaChannel channel = endPoint.channel(0);
        RdmaBuffer replies = server.allocate("replies", channel.maxMessageBytes());
        MovableSlice reply = replies.whole().movable();
        MessageHandler echo = (on, message) -> {
            replies.segment().asSlice(0, message.length()).copyFrom(message.segment());
            Admission admission =
                    on.trySend(reply.at(0, message.length()), (sent, context, status, result) -> {}, message.tag());
            if (admission != Admission.ACCEPTED) {
                // This cannot happen while only one message is in flight.
                throw new IllegalStateException("the echo was not accepted: " + admission);
            }
        };
        channel.onMessage(echo);
    }

    /// Returns the round-trip time of a message in microseconds.
    private static double ping(ClientSession client, RdmaBuffer text, int rounds) {
        BlockingChannel channel = client.endPoint().channel(0).blocking(TIMEOUT);
        MovableSlice message = text.whole().movable();
        long begin = System.nanoTime();
        for (int round = 0; round < rounds; round++) {
            String sent = "ping " + round;
            text.segment().setString(0, sent);
            channel.send(message.at(0, sent.length()));
            try (Message answer = channel.receive()) {
                if (!answer.text().equals(sent)) {
                    throw new IllegalStateException("'" + answer.text() + "' came back instead of '" + sent + "'");
                }
            }
        }
        return (System.nanoTime() - begin) / 1000.0 / rounds;
    }
}
