package io.rdmacomm.cli;

import io.rdmacomm.cli.copy.FileReceiver;
import io.rdmacomm.cli.copy.IncomingFolder;
import io.rdmacomm.cli.copy.TcpLink;
import io.rdmacomm.cli.terminal.AddressText;
import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.CommandOutput;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.comm.CommException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/// Receives files over plain TCP sockets.
final class TcpCopyServer implements CopyServer {
    private static final int INITIAL_BLOCK_BYTES = 1 << 20;

    private final ServerSocketChannel listener;
    private final IncomingFolder folder;
    private final CommandOutput output;

    TcpCopyServer(ListenOptions listen, IncomingFolder folder, CommandOutput output) throws IOException {
        this.folder = folder;
        this.output = output;
        InetSocketAddress address = listen.socketAddress(PeerAddress.DEFAULT_PORT);
        if (address.isUnresolved()) {
            throw new UnknownHostException(listen.bind());
        }
        this.listener = ServerSocketChannel.open();
        try {
            listener.bind(address);
        } catch (BindException e) {
            listener.close();
            throw new CommandFailure(
                    "cannot listen on port " + listen.port() + ": " + e.getMessage() + "; choose another --port", e);
        }
    }

    @Override
    public int port() {
        return listener.socket().getLocalPort();
    }

    @Override
    public int run(boolean once) {
        try {
            while (true) {
                SocketChannel sender = listener.accept();
                if (once) {
                    return serve(sender);
                }
                Thread.ofPlatform().name("recv-tcp").start(() -> serve(sender));
            }
        } catch (ClosedChannelException _) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException("accepting a sender failed: " + e.getMessage(), e);
        }
    }

    private int serve(SocketChannel sender) {
        String address = "a sender";
        try (CopyReport report = new CopyReport(output, false);
                TcpLink link = new TcpLink(sender, INITIAL_BLOCK_BYTES)) {
            address = AddressText.of((InetSocketAddress) sender.getRemoteAddress());
            link.greetSender();
            int failures = new FileReceiver(link, folder, report).run();
            report.summarize("tcp");
            return failures;
        } catch (IOException | UncheckedIOException | CommandFailure | CommException e) {
            output.complain(address + ": " + FailureText.of(e));
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
