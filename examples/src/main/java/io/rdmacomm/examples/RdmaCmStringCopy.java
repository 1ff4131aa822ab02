package io.rdmacomm.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// The usual first program with rdma_cm(7): the client finds the server by its address, both describe their
/// buffers in messages, and the client copies a string into the server's memory with WRITE, reads it back with
/// READ, and compares.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.RdmaCmStringCopy [TEXT [ADDRESS]]
/// ```
///
/// ADDRESS is an address of this host at which its RDMA device can be reached. Both sides run in this program;
/// `rdmacomm copy-string` does the same as two programs, and with programs in C.
public final class RdmaCmStringCopy {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final ConnectionParameters PARAMETERS = ConnectionParameters.defaults();

    /// The client chooses the length and is not trusted, so there is a limit.
    private static final int MOST_BYTES = 1 << 20;

    private static final Set<AccessFlag> LOCAL = EnumSet.of(AccessFlag.LOCAL_WRITE);
    private static final Set<AccessFlag> REMOTE =
            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);

    private RdmaCmStringCopy() {}

    /// Runs both sides.
    public static void main(String[] arguments) throws Exception {
        String text = arguments.length > 0 ? arguments[0] : "a string to copy";
        InetSocketAddress address = new InetSocketAddress(arguments.length > 1 ? arguments[1] : "localhost", 0);
        try (Context context = Rdma.open();
                ConnectionManager manager = ConnectionManager.open(context);
                Listener<ConnectionRequest> listener = manager.listen(address, 1);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<String> server = threads.submit(() -> serve(listener));
            copy(manager, listener.localAddress(), text);
            System.out.println("the server has: " + server.get());
        }
    }

    /// Lends a client as much memory as it asks for, and returns what it has written there.
    private static String serve(Listener<ConnectionRequest> listener) throws InterruptedException {
        ConnectionRequest next = listener.awaitRequest(TIMEOUT);
        if (next == null) {
            throw new IllegalStateException("no client has come within " + TIMEOUT);
        }
        try (ConnectionRequest request = next;
                StepByStep steps = new StepByStep(listener.manager().context(), TIMEOUT)) {
            request.prepare(steps.queuePair());
            // Post it before the connection exists, because the client may send at once.
            steps.postReceive();
            try (Connection connection = request.accept(steps.queuePair(), PARAMETERS, TIMEOUT)) {
                long bytes = steps.awaitDescription().length();
                if (bytes < 1 || bytes > MOST_BYTES) {
                    throw new IllegalStateException("the client asks for " + bytes + " bytes");
                }
                MemoryRegion target = steps.domain().allocate(bytes, REMOTE);
                steps.sendDescription(target.remote());
                // The server sees neither the WRITE nor the READ. The client disconnects when it is done.
                if (!connection.awaitDisconnect(TIMEOUT)) {
                    throw new IllegalStateException("the client has not disconnected within " + TIMEOUT);
                }
                return UTF_8.decode(target.segment().asByteBuffer()).toString();
            }
        }
    }

    private static void copy(ConnectionManager manager, InetSocketAddress server, String text)
            throws InterruptedException {
        try (Route route = manager.resolve(server, TIMEOUT);
                StepByStep steps = new StepByStep(manager.context(), TIMEOUT)) {
            route.prepare(steps.queuePair());
            steps.postReceive();
            try (Connection connection = route.connect(steps.queuePair(), PARAMETERS, TIMEOUT)) {
                MemorySegment bytes = MemorySegment.ofArray(text.getBytes(UTF_8));
                MemoryRegion source = steps.domain().allocate(bytes.byteSize(), LOCAL);
                MemoryRegion copy = steps.domain().allocate(bytes.byteSize(), LOCAL);
                source.segment().copyFrom(bytes);

                // The server needs only the length: it does not access the client's memory.
                steps.sendDescription(source.remote());
                RemoteMemory target = steps.awaitDescription();
                if (target.length() != source.length()) {
                    throw new IllegalStateException("the server offers " + target.length() + " bytes");
                }
                steps.write(source, target);
                steps.read(copy, target);
                if (source.segment().mismatch(copy.segment()) >= 0) {
                    throw new IllegalStateException("another string came back");
                }
                System.out.println("SUCCESS, source and destination buffers match");
                connection.disconnect();
            }
        }
    }
}
