package io.rdmacomm.cli;

import io.rdmacomm.cli.copy.FileReceiver;
import io.rdmacomm.cli.copy.IncomingFolder;
import io.rdmacomm.cli.copy.TcpLink;
import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.comm.PeerClosedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/// Receives files over plain sockets, from several senders at a time.
final class TcpCopyServer implements CopyServer {
    private static final int FIRST_BLOCK_BYTES = 1 << 20;

    private final ServerSocketChannel listener;
    private final IncomingFolder folder;
    private final PrintWriter out;
    private final PrintWriter err;

    TcpCopyServer(ListenOptions listen, IncomingFolder folder, PrintWriter out, PrintWriter err) throws IOException {
        this.folder = folder;
        this.out = out;
        this.err = err;
        this.listener = ServerSocketChannel.open();
        try {
            listener.bind(
                    listen.bind().isEmpty()
                            ? new InetSocketAddress(listen.port())
                            : new InetSocketAddress(InetAddress.getByName(listen.bind()), listen.port()));
        } catch (BindException e) {
            listener.close();
            throw new CommandFailure(
                    "port " + listen.port() + " cannot be listened on: " + e.getMessage() + "; choose another --port",
                    e);
        }
    }

    @Override
    public int port() {
        return listener.socket().getLocalPort();
    }

    @Override
    public int run(boolean once) {
        while (listener.isOpen()) {
            try {
                SocketChannel sender = listener.accept();
                if (once) {
                    return serve(sender);
                }
                Thread.ofPlatform().name("recv-tcp").start(() -> serve(sender));
            } catch (ClosedChannelException _) {
                return 0;
            } catch (IOException e) {
                throw new UncheckedIOException("accepting a sender failed: " + e.getMessage(), e);
            }
        }
        return 0;
    }

    private int serve(SocketChannel sender) {
        try (CopyReport report = new CopyReport(out, err, "recv", false);
                TcpLink link = new TcpLink(sender, FIRST_BLOCK_BYTES)) {
            link.greetSender();
            int failures = new FileReceiver(link, folder, report).run();
            report.summarize("tcp");
            return failures;
        } catch (IOException | UncheckedIOException | CommandFailure | PeerClosedException e) {
            err.println("rdmacomm recv: a sender failed: " + FailureText.of(e));
            err.flush();
            return 1;
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
