package io.rdmacomm.examples;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Set;

/// Copies a file with one-sided writes, like `rdmacomm send` and `recv`: the receiver announces a buffer, and the
/// sender writes one chunk after another into it, each with a notice. To keep the example short, there is only one
/// chunk in flight.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.FileCopy [FILE COPY]
/// ```
public final class FileCopy {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int CHUNK = 1 << 20;

    private FileCopy() {}

    /// Runs both sides in this program. Without arguments, it creates the file that it copies.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path from = arguments.length > 1 ? Path.of(arguments[0]) : example();
        Path to = arguments.length > 1 ? Path.of(arguments[1]) : Files.createTempFile("rdmacomm-copy", "");
        SessionOptions options = SessionOptions.defaults().withAddress("localhost", 0);
        try (ServerSession server = ServerSession.listen(options)) {
            Thread receiver = Thread.ofVirtual().start(() -> receive(server, to));
            try (ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
                send(client, from);
            }
            receiver.join();
        }
        System.out.println(
                Files.mismatch(from, to) < 0 ? "copied " + Files.size(to) + " bytes" : "the copy is different");
        if (arguments.length < 2) {
            Files.delete(from);
            Files.delete(to);
        }
    }

    private static void send(ClientSession client, Path file) throws IOException {
        EndPoint endPoint = client.endPoint();
        BlockingChannel channel = endPoint.channel(0).blocking(TIMEOUT);
        RemoteBuffer target = endPoint.peerBuffer("chunk", TIMEOUT);
        RdmaBuffer source = client.allocate("chunk", CHUNK);
        ByteBuffer bytes = source.segment().asByteBuffer();
        try (FileChannel input = FileChannel.open(file, StandardOpenOption.READ)) {
            for (int length = input.read(bytes.clear()); length > 0; length = input.read(bytes.clear())) {
                channel.writeNotify(source.slice(0, length), target, 0, length);
                // The receiver answers when it has stored the chunk.
                channel.receive().close();
            }
        }
        // A message that is not a notice marks the end.
        channel.send(source.slice(0, 0));
        channel.receive().close();
    }

    private static void receive(ServerSession server, Path file) {
        EndPoint endPoint = server.accept(TIMEOUT);
        BlockingChannel channel = endPoint.channel(0).blocking(TIMEOUT);
        RdmaBuffer chunk = server.allocate("chunk", CHUNK);
        endPoint.announce(chunk, Set.of(AccessFlag.REMOTE_WRITE));
        try (FileChannel output = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            boolean more = true;
            while (more) {
                try (Message notice = channel.receive()) {
                    more = notice.isNotice();
                    ByteBuffer bytes = chunk.segment().asByteBuffer().limit(more ? notice.tag() : 0);
                    while (bytes.hasRemaining()) {
                        output.write(bytes);
                    }
                }
                channel.send(chunk.slice(0, 0));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path example() throws IOException {
        Path file = Files.createTempFile("rdmacomm-example", "");
        byte[] content = new byte[5 * CHUNK + 123];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) ((i * 31) >>> 3);
        }
        return Files.write(file, content);
    }
}
