package io.rdmacomm.tests.nio;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.FolderClasses;
import io.rdmacomm.tests.fixture.JavaCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A process with rsockets, for tests that kill it, stop it, or leave it without descriptors.
final class PeerProcess implements AutoCloseable {
    private static final int TIMEOUT_SECONDS = 50;
    private static final ByteBuffer BYTES = ByteBuffer.allocateDirect(1000);

    private final Process process;
    private final String first;

    private PeerProcess(Process process) throws IOException {
        this.process = process;
        this.first = process.inputReader().readLine();
    }

    /// Starts one, and waits for its first line.
    ///
    /// @param prefix before the command of the JVM
    static PeerProcess start(List<String> prefix, String role) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(JavaCommand.of(PeerProcess.class, List.of("-Xmx256m")));
        command.add(role);
        return new PeerProcess(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /// Where it listens.
    SocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(first));
    }

    /// All that it has printed, when it has ended. It is killed if that takes too long.
    List<String> lines() throws IOException, InterruptedException {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            kill();
        }
        List<String> lines = new ArrayList<>(List.of(first));
        lines.addAll(process.inputReader().readAllLines());
        lines.add("exit code " + process.waitFor());
        return lines;
    }

    /// For [io.rdmacomm.tests.fixture.Signals].
    Process process() {
        return process;
    }

    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        kill();
    }

    /// The process.
    ///
    /// @param arguments its role
    public static void main(String[] arguments) throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*")) {
            if ("exhaust".equals(arguments[0])) {
                FolderClasses.load();
                exhaust(provider);
                return;
            }
            ServerSocketChannel listening = Sockets.listen(provider);
            System.out.println(((InetSocketAddress) listening.getLocalAddress()).getPort());
            if ("listen".equals(arguments[0])) {
                Thread.currentThread().join();
            }
            SocketChannel accepted = listening.accept();
            while ("write".equals(arguments[0])) {
                accepted.write(BYTES.clear());
            }
            Thread.currentThread().join();
        }
    }

    /// Opens connections until something is missing, and one more when they are closed.
    private static void exhaust(RdmaSelectorProvider provider) throws IOException {
        List<Sockets.Pair> pairs = new ArrayList<>();
        try {
            while (true) {
                pairs.add(Sockets.Pair.connect(provider));
            }
        } catch (IOException e) {
            System.out.println(pairs.size() + " connections, then " + e);
        }
        for (Sockets.Pair pair : pairs) {
            pair.close();
        }
        boolean again = false;
        while (!again) {
            // What was closed is given back in the background.
            try (Sockets.Pair pair = Sockets.Pair.connect(provider)) {
                pair.client().write(ByteBuffer.allocate(1));
                again = pair.server().read(ByteBuffer.allocate(1)) == 1;
            } catch (IOException e) {
                Thread.onSpinWait();
            }
        }
        System.out.println("again");
    }
}
