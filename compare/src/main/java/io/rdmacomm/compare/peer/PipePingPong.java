package io.rdmacomm.compare.peer;

import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/// Two processes that wake each other through pipes: the client starts the server, whose standard input and output are
/// the pipes. The whole round trip.
final class PipePingPong implements Peer {
    @Override
    public void serve(Task task) throws IOException {
        byte[] message = new byte[task.bytes()];
        try (FileInputStream in = new FileInputStream(FileDescriptor.in);
                FileOutputStream out = new FileOutputStream(FileDescriptor.out)) {
            while (in.readNBytes(message, 0, message.length) == message.length) {
                out.write(message);
            }
        }
    }

    @Override
    public double measure(Task task) throws IOException, InterruptedException {
        byte[] message = new byte[task.bytes()];
        Process server = new ProcessBuilder(List.of(task.serverCommand().split(" ", -1)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (OutputStream out = server.getOutputStream();
                InputStream in = server.getInputStream()) {
            return task.micros(() -> {
                out.write(message);
                out.flush();
                if (in.readNBytes(message, 0, message.length) < message.length) {
                    throw new EOFException("the other process has ended");
                }
            });
        } finally {
            server.destroyForcibly();
        }
    }
}
