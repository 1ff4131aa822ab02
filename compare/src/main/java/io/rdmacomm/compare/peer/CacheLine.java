package io.rdmacomm.compare.peer;

import io.rdmacomm.cli.bench.trial.CacheLineFloor;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;

/// The floor of all libraries over shared memory: a cache line back and forth, as `rdmacomm bench` measures it. The
/// ends
/// find each other over a socket.
final class CacheLine implements Peer {
    @Override
    public void serve(Task task) throws IOException {
        try (SocketChannel socket = Sockets.accept(task);
                CacheLineFloor floor = CacheLineFloor.create()) {
            new DataOutputStream(Channels.newOutputStream(socket)).writeUTF(floor.name());
            floor.serve();
        }
    }

    @Override
    public double measure(Task task) throws IOException {
        try (SocketChannel socket = Sockets.connect(task);
                CacheLineFloor floor =
                        CacheLineFloor.open(new DataInputStream(Channels.newInputStream(socket)).readUTF())) {
            return floor.warmMedian();
        }
    }
}
