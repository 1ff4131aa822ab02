package io.rdmacomm.tests.nio;

import static io.rdmacomm.tests.nio.ChannelCases.add;
import static io.rdmacomm.tests.nio.ChannelCases.addPair;
import static io.rdmacomm.tests.nio.ChannelCases.outcome;
import static io.rdmacomm.tests.nio.ChannelCases.result;
import static io.rdmacomm.tests.nio.ChannelCases.start;

import io.rdmacomm.tests.nio.ChannelCases.OfPair;
import io.rdmacomm.tests.nio.ChannelCases.Started;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;

/// Files to sockets, and sockets to files.
final class FileCases {
    private static final int BYTES = 3_000_001;
    private static final byte[] CONTENT = new byte[BYTES];

    static {
        new Random(1).nextBytes(CONTENT);
    }

    private FileCases() {}

    private interface OfFile {
        String run(Path path, FileChannel file, SocketChannel client, SocketChannel server) throws Exception;
    }

    private static void addFile(String name, OfFile body) {
        addPair("files." + name, new OfPair() {
            @Override
            public String run(SocketChannel client, SocketChannel server) throws Exception {
                Path path = Files.createTempFile("channel-cases", null);
                try {
                    Files.write(path, CONTENT);
                    try (FileChannel file = FileChannel.open(path)) {
                        return body.run(path, file, client, server);
                    }
                } finally {
                    Files.delete(path);
                }
            }
        });
    }

    static void addAll() {
        addFile("transferTo", (path, file, client, server) -> {
            Started reading = start(() -> received(server));
            long at = 0;
            while (at < BYTES) {
                at += file.transferTo(at, Long.MAX_VALUE, client);
            }
            long position = file.position();
            client.close();
            return at + " " + position + " " + result(reading);
        });
        addFile("transferTo.part", (path, file, client, server) -> {
            Started reading = start(() -> received(server));
            long some = file.transferTo(1_000_000, 1000, client);
            some += file.transferTo(1_000_000, 0, client);
            some += file.transferTo(BYTES - 5, 1000, client);
            some += file.transferTo(BYTES, 1000, client);
            some += file.transferTo(BYTES + 1000, 1000, client);
            client.close();
            return some + " " + result(reading);
        });
        addFile("transferTo.notBlocking", (path, file, client, server) -> {
            client.configureBlocking(false);
            long first = 0;
            long some = file.transferTo(0, BYTES, client);
            // Nobody reads.
            for (int idle = 0; idle < 50; idle = some == 0 ? idle + 1 : 0) {
                first += some;
                some = file.transferTo(first % BYTES, 100_000, client);
                LockSupport.parkNanos(1_000_000);
            }
            Started reading = start(() -> "" + count(server));
            client.close();
            return (first > 0) + " " + result(reading).equals("" + first);
        });
        addFile("transferTo.arguments", (path, file, client, server) -> {
            String wrong = outcome(() -> file.transferTo(-1, 1, client)) + " "
                    + outcome(() -> file.transferTo(0, -1, client)) + " "
                    + outcome(() -> file.transferTo(0, 1, null));
            try (FileChannel writing = FileChannel.open(path, StandardOpenOption.WRITE);
                    SocketChannel unconnected = SocketChannel.open()) {
                wrong += " " + outcome(() -> writing.transferTo(0, 1, client)) + " "
                        + outcome(() -> file.transferTo(0, 1, unconnected)) + " "
                        + outcome(() -> file.transferTo(0, 100_000, unconnected)) + " "
                        + outcome(() -> file.transferTo(BYTES, 1, unconnected));
            }
            client.shutdownOutput();
            wrong += " " + outcome(() -> file.transferTo(0, 1, client)) + " "
                    + outcome(() -> file.transferTo(0, 100_000, client));
            client.close();
            wrong += " " + outcome(() -> file.transferTo(0, 1, client));
            file.close();
            return wrong + " " + outcome(() -> file.transferTo(0, 1, server)) + " " + server.isOpen();
        });
        addFile("transferTo.interrupted", (path, file, client, server) -> {
            Started writing = start(() ->
                            endless(file, client) + " " + Thread.currentThread().isInterrupted())
                    .awaitBlocked();
            writing.thread().interrupt();
            return result(writing) + " " + file.isOpen() + " " + client.isOpen();
        });
        addFile("transferTo.interruptedBefore", (path, file, client, server) -> {
            Thread.currentThread().interrupt();
            return outcome(() -> file.transferTo(0, 100_000, client)) + " " + Thread.interrupted() + " " + file.isOpen()
                    + " " + client.isOpen();
        });
        addFile("transferTo.socketIsClosed", (path, file, client, server) -> {
            Started writing = start(() -> endless(file, client)).awaitBlocked();
            client.close();
            // Between two calls or in one of them.
            return result(writing).replace("AsynchronousClose", "ClosedChannel") + " " + file.isOpen();
        });
        addFile("transferTo.fileOfTheSystem", (path, file, client, server) -> {
            try (FileChannel system = FileChannel.open(Path.of("/proc/self/comm"))) {
                return system.size() + " " + (system.transferTo(0, 1000, client) > 0) + " "
                        + (server.read(ByteBuffer.allocate(1000)) > 0);
            }
        });
        addFile("transferFrom", (path, file, client, server) -> {
            Started writing = start(() -> {
                ByteBuffer all = ByteBuffer.wrap(CONTENT);
                while (all.hasRemaining()) {
                    server.write(all);
                }
                server.close();
                return "";
            });
            Path copy = Files.createTempFile("channel-cases", null);
            try (FileChannel target = FileChannel.open(copy, StandardOpenOption.WRITE)) {
                long at = 0;
                for (long some = 1; some > 0; at += some) {
                    some = target.transferFrom(client, at, 1 << 20);
                }
                return at + " " + Arrays.equals(Files.readAllBytes(copy), CONTENT) + result(writing);
            } finally {
                Files.delete(copy);
            }
        });
        addFile("streams.channels", (path, file, client, server) -> {
            Started reading = start(() -> received(server));
            try (InputStream input = Files.newInputStream(path)) {
                long bytes = input.transferTo(Channels.newOutputStream(client));
                client.close();
                return bytes + " " + result(reading);
            }
        });
        addFile("streams.socket", (path, file, client, server) -> {
            Started reading = start(() -> received(server));
            long bytes = Files.copy(path, client.socket().getOutputStream());
            client.close();
            return bytes + " " + result(reading);
        });
        addFile("streams.notBlocking", (path, file, client, server) -> {
            var output = client.socket().getOutputStream();
            client.configureBlocking(false);
            return outcome(() -> Files.copy(path, output)) + " "
                    + outcome(() -> Files.copy(path, Channels.newOutputStream(client)));
        });
        addFile("streams.toFile", (path, file, client, server) -> {
            Started writing = start(() -> {
                try (InputStream input = Files.newInputStream(path)) {
                    input.transferTo(server.socket().getOutputStream());
                }
                server.close();
                return "";
            });
            Path copy = Files.createTempFile("channel-cases", null);
            try (var output = Files.newOutputStream(copy)) {
                long bytes = Channels.newInputStream(client).transferTo(output);
                return bytes + " " + Arrays.equals(Files.readAllBytes(copy), CONTENT) + result(writing);
            } finally {
                Files.delete(copy);
            }
        });
        add(
                "files.streams.ofNothing",
                () -> outcome(() -> Files.copy(Path.of("/dev/null"), (java.io.OutputStream) null)));
    }

    private static String endless(FileChannel file, SocketChannel client) {
        return outcome(() -> {
            while (true) {
                file.transferTo(0, BYTES, client);
            }
        });
    }

    private static long count(SocketChannel server) throws IOException {
        ByteBuffer some = ByteBuffer.allocate(1 << 16);
        long count = 0;
        for (int bytes = server.read(some); bytes >= 0; bytes = server.read(some.clear())) {
            count += bytes;
        }
        return count;
    }

    /// How many bytes come to the end, and their checksum.
    private static String received(SocketChannel server) throws IOException {
        CRC32C sum = new CRC32C();
        ByteBuffer some = ByteBuffer.allocate(1 << 16);
        long count = 0;
        while (server.read(some.clear()) >= 0) {
            sum.update(some.flip());
            count += some.limit();
        }
        return count + " bytes " + Long.toHexString(sum.getValue());
    }
}
