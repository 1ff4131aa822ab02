package io.rdmacomm.cli;

import io.rdmacomm.cli.copy.FileReceiver;
import io.rdmacomm.cli.copy.IncomingFolder;
import io.rdmacomm.cli.copy.RdmaReceiverLink;
import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.CommandOutput;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.cli.wire.Clients;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.RdmaException;

/// Receives files over RDMA.
final class RdmaCopyServer implements CopyServer {
    private static final int MAX_DEPTH = 256;

    private final ServerSession session;
    private final IncomingFolder folder;
    private final CommandOutput output;

    RdmaCopyServer(
            ListenOptions listen,
            DeviceOptions device,
            ModeOptions modes,
            IncomingFolder folder,
            CommandOutput output) {
        this.folder = folder;
        this.output = output;
        this.session = ServerSession.listen(modes.apply(device.apply(SessionOptions.defaults()
                .withName("recv")
                .withThreadMode(ThreadMode.CALLER)
                .withChannel(SendCommand.channel(MAX_DEPTH))
                .withAddress(listen.bind(), listen.port()))));
    }

    @Override
    public int port() {
        return session.port();
    }

    @Override
    public int run(boolean once) {
        long number = 1;
        for (EndPoint sender = Clients.next(session); sender != null; sender = Clients.next(session)) {
            if (once) {
                return serve(sender, number);
            }
            EndPoint next = sender;
            long id = number++;
            Thread.ofPlatform().name("recv-" + id).start(() -> serve(next, id));
        }
        return 0;
    }

    private int serve(EndPoint sender, long id) {
        try (EndPoint endPoint = sender;
                CopyReport report = new CopyReport(output, false);
                RdmaReceiverLink link = new RdmaReceiverLink(session, endPoint, id)) {
            int failures = new FileReceiver(link, folder, report).run();
            report.summarize("rdma");
            return failures;
        } catch (RdmaException | CommandFailure e) {
            output.complain(sender.peerAddress() + ": " + FailureText.of(e));
            return 1;
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
