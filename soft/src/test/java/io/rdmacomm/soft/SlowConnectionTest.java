package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A message that takes longer than a peer may be silent: a slow line is not a dead peer.
@Tag("slow")
class SlowConnectionTest {
    private static final int BYTES = AddressEnd.HALF;
    private static final int PIECE = 1024;
    // 128 KiB take 8 s; a peer may be silent for 5 s.
    private static final long NANOS_FOR_A_BYTE = 61_000;

    @Test
    void aLongMessageOverASlowLineArrives() throws Exception {
        try (AddressEnd server = new AddressEnd("slow1=127.0.0.1?sharedMemory=false");
                AddressEnd client = new AddressEnd("slow2=127.0.0.1?sharedMemory=false");
                Listener<ConnectionRequest> listener =
                        server.manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
                SlowLine line = new SlowLine(listener.localAddress())) {
            CompletableFuture<Connection> connecting = AddressEnd.async(() -> client.manager.connect(
                    line.address(), client.pair, ConnectionParameters.defaults(), AddressEnd.LONG));
            ConnectionRequest request = listener.awaitRequest(AddressEnd.LONG);
            assertThat(request).isNotNull();
            try (Connection passive = request.accept(server.pair, ConnectionParameters.defaults(), AddressEnd.LONG);
                    Connection active = connecting.get(20, TimeUnit.SECONDS)) {
                assertThat(active.remoteAddress()).isNotEqualTo(passive.localAddress());
                line.slowDown();
                client.fill(BYTES, 1);
                SendBatch write = client.batch();
                write.write(7, server.region.remote())
                        .with(client.region, 0, BYTES)
                        .signaled();
                client.post(write);
                assertThat(client.next().status()).isEqualTo(WorkStatus.SUCCESS);
                assertThat(server.region
                                .segment()
                                .asSlice(0, BYTES)
                                .mismatch(client.region.segment().asSlice(0, BYTES)))
                        .isEqualTo(-1);
            }
        }
    }

    /// Copies between two sockets, at first as fast as it can.
    private static final class SlowLine implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final InetSocketAddress server;
        private volatile boolean slow;

        SlowLine(InetSocketAddress server) throws IOException {
            this.server = server;
            listener.setReceiveBufferSize(PIECE);
            Thread.ofPlatform().daemon().name("slow line").start(this::run);
        }

        InetSocketAddress address() {
            return (InetSocketAddress) listener.getLocalSocketAddress();
        }

        void slowDown() {
            slow = true;
        }

        private void run() {
            try (Socket near = listener.accept();
                    Socket far = new Socket(server.getAddress(), server.getPort())) {
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                Thread back =
                        Thread.ofPlatform().daemon().name("slow line back").start(() -> copy(far, near, false));
                copy(near, far, true);
                back.join();
            } catch (IOException | InterruptedException e) {
                // Its ends are gone, and so is the test.
            }
        }

        private void copy(Socket from, Socket to, boolean maySlow) {
            byte[] piece = new byte[PIECE];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                // A thread that wakes up late does not slow the line further.
                long due = 0;
                for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                    out.write(piece, 0, count);
                    if (maySlow && slow) {
                        due = (due == 0 ? System.nanoTime() : due) + NANOS_FOR_A_BYTE * count;
                        LockSupport.parkNanos(due - System.nanoTime());
                    }
                }
                to.shutdownOutput();
            } catch (IOException e) {
                // The other end is gone.
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }
}
