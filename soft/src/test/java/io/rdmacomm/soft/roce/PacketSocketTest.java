package io.rdmacomm.soft.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.testing.Allocation;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class PacketSocketTest {
    private static final int PACKETS = 20_000;
    private static final int LENGTH = 64;

    /// A thread that posts sends through the socket of its address while the engine acknowledges.
    @Test
    void twoThreadsAtOnceAllocateNothing() throws IOException, InterruptedException, ExecutionException {
        InetSocketAddress discard = new InetSocketAddress(InetAddress.getByName("127.19.4.2"), 9);
        try (PacketSocket socket = new PacketSocket(InetAddress.getByName("127.19.4.1"), false, new RoceCounters())) {
            assertThat(Allocation.ofTwoThreads(() -> sender(socket, discard))).contains(0L);
        }
    }

    private static Runnable sender(PacketSocket socket, InetSocketAddress to) {
        ByteBuffer packet = ByteBuffer.allocateDirect(LENGTH);
        return () -> {
            for (int i = 0; i < PACKETS; i++) {
                socket.send(packet.clear(), to);
            }
        };
    }
}
