package io.rdmacomm.tests.steps;

import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.shm.ShmMessage;
import io.rdmacomm.soft.shm.ShmPeer;
import io.rdmacomm.verbs.QueuePairInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;

/// Ends the connection between two software devices while both processes live, as a kernel that is short of memory
/// may do: connects to one in the name of the other, which replaces that connection, and hangs up.
final class LostConnection {
    private LostConnection() {}

    /// @param here a queue pair of the device that loses the connection
    /// @param there one of its peer
    static void of(QueuePairInfo here, QueuePairInfo there) {
        try (SocketChannel connection = SocketChannel.open(
                UnixDomainSocketAddress.of(ShmDirectory.folder(here.lid()).resolve(ShmPeer.SOCKET)))) {
            ByteBuffer hello = ByteBuffer.allocate(ShmMessage.BYTES).order(ByteOrder.nativeOrder());
            hello.putInt(ShmMessage.HELLO).putInt(there.lid());
            hello.putLong(there.gid().high()).putLong(there.gid().low()).flip();
            connection.write(hello);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
