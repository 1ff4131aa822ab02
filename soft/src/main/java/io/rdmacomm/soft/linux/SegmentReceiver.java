package io.rdmacomm.soft.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.service.SafeLogger;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Receives from a socket of the JDK: one call returns several packets of one sender that came together (UDP_GRO,
/// udp(7)). Not thread-safe, and never used after the socket is closed; allocates nothing after its creation.
public final class SegmentReceiver {
    private static final SafeLogger LOGGER = SafeLogger.of(SegmentReceiver.class);
    private static final File DESCRIPTORS = new File("/proc/self/fd");
    /// No datagram over IPv4 is longer.
    private static final int MOST_BYTES = 65_535;

    private final int descriptor;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(MOST_BYTES);
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
    private final MessageHeader header = new MessageHeader(memory, 0);

    private SegmentReceiver(int descriptor) throws IOException {
        this.descriptor = descriptor;
        // Fails on kernels before 5.0.
        SocketCalls.set(descriptor, SocketCalls.SOL_UDP, SocketCalls.UDP_GRO, 1);
    }

    /// Receives from the socket with a local address, instead of its channel.
    ///
    /// @return null if this program has no native access, or the system does not support this
    public static @Nullable SegmentReceiver open(InetSocketAddress local) {
        if (!NativeAccess.isUsable()) {
            return null;
        }
        try {
            int descriptor = find(local);
            return descriptor < 0 ? null : new SegmentReceiver(descriptor);
        } catch (IOException | RuntimeException | LinkageError e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> "packets arrive one by one at " + local, e);
            return null;
        }
    }

    /// The descriptor of the socket, which the JDK does not expose; negative unless exactly one matches.
    private static int find(InetSocketAddress local) {
        if (!(local.getAddress() instanceof Inet4Address address)) {
            return -1;
        }
        String[] names = DESCRIPTORS.list();
        if (names == null) {
            return -1;
        }
        int found = -1;
        MemorySegment wanted = SocketAddress.allocate(SocketAddress.bits(address), local.getPort());
        MemorySegment name = SocketAddress.allocate(0, 0);
        for (String each : names) {
            int descriptor = Integer.parseInt(each);
            if (SocketCalls.isDatagramSocket(descriptor)
                    && SocketCalls.name(descriptor, name)
                    && name.mismatch(wanted) < 0) {
                if (found >= 0) {
                    return -1;
                }
                found = descriptor;
            }
        }
        return found;
    }

    /// The packets that have arrived, one after another.
    public ByteBuffer buffer() {
        return buffer;
    }

    /// The same as a segment.
    public MemorySegment memory() {
        return memory;
    }

    /// Receives; does not block.
    ///
    /// @return the number of bytes of all packets, negative if there are none
    /// @throws IOException if the socket fails
    public int receive() throws IOException {
        int received = header.receive(descriptor, MOST_BYTES);
        if (received < 0 && received != -SocketCalls.EAGAIN && received != -SocketCalls.EINTR) {
            throw new IOException("recvmsg failed with errno " + -received);
        }
        return received;
    }

    /// The length of each packet but the last, which may be shorter.
    ///
    /// @param received the result of [#receive]
    public int packetBytes(int received) {
        MemorySegment control = header.control();
        if (!header.hasControl()
                || control.get(JAVA_LONG, 0) != MessageHeader.CONTROL_DATA + Integer.BYTES
                || control.get(JAVA_INT, MessageHeader.CONTROL_LEVEL) != SocketCalls.SOL_UDP
                || control.get(JAVA_INT, MessageHeader.CONTROL_TYPE) != SocketCalls.UDP_GRO) {
            return received;
        }
        int bytes = control.get(JAVA_INT, MessageHeader.CONTROL_DATA);
        return bytes > 0 ? Math.min(bytes, received) : received;
    }

    /// The IPv4 address of the sender.
    public int host() {
        return SocketAddress.host(header.peer());
    }

    /// The UDP port of the sender.
    public int port() {
        return SocketAddress.port(header.peer());
    }
}
