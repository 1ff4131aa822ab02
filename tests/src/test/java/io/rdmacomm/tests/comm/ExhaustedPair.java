package io.rdmacomm.tests.comm;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.verbs.RdmaException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/// A program with a small heap that holds both ends of a connection, lets them send to each other, fills the heap
/// again and again, and prints how the two ends are afterwards.
final class ExhaustedPair {
    /// Both ends serve, or both have failed.
    static final String AGREED = "agreed";

    private static final Duration CALL = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final int WAVES = 25;
    private static final int MESSAGE_BYTES = 64;

    private ExhaustedPair() {}

    /// One end, which sends all the time and counts what it receives.
    private static final class Side {
        private final EndPoint endPoint;
        private final AtomicLong received = new AtomicLong();

        private Side(EndPoint endPoint) {
            this.endPoint = endPoint;
            RdmaChannel channel = endPoint.channel(0);
            repeat(() -> channel.blocking(CALL).send(new byte[MESSAGE_BYTES]));
            repeat(() -> {
                channel.blocking(CALL).receive().close();
                received.incrementAndGet();
            });
            // Messages of the control channel need memory where they arrive.
            repeat(() -> endPoint.barrier(CALL));
        }

        /// Calls again whatever happens, because an end can be judged only while it is used. Without memory,
        /// the JVM may fail anywhere: in this loop, too, and with a [LinkageError] where it links a call.
        private void repeat(Runnable call) {
            Thread.ofPlatform().daemon().start(() -> {
                while (true) {
                    try {
                        if (hasFailed()) {
                            return;
                        }
                        call.run();
                    } catch (RdmaException | OutOfMemoryError | LinkageError e) {
                        // There is no memory at the moment, here or there.
                        Thread.onSpinWait();
                    }
                }
            });
        }

        private boolean hasFailed() {
            return endPoint.state() == EndPointState.FAILED;
        }

        @Override
        public String toString() {
            return endPoint + " is " + endPoint.state() + ", received " + received + ", failure " + endPoint.failure();
        }
    }

    /// Prints [#AGREED], or how the ends differ.
    ///
    /// @param arguments the work mode
    public static void main(String[] arguments) {
        SessionOptions options =
                SessionOptions.defaults().withAddress("127.0.0.1", 0).withWorkMode(WorkMode.valueOf(arguments[0]));
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
            Side here = new Side(client.endPoint());
            Side there = new Side(server.accept(LONGEST));
            for (int i = 0; i < WAVES; i++) {
                ExhaustedServer.fillOnce();
            }
            System.out.println(outcome(here, there));
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
    }

    private static String outcome(Side here, Side there) {
        long before = here.received.get();
        long beforeThere = there.received.get();
        long end = System.nanoTime() + LONGEST.toNanos();
        while (System.nanoTime() - end < 0) {
            boolean serving = here.received.get() > before && there.received.get() > beforeThere;
            if (serving || (here.hasFailed() && there.hasFailed())) {
                return AGREED + ": " + here + "; " + there;
            }
            Thread.onSpinWait();
        }
        return here + "; " + there;
    }
}
