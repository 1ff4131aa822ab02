package io.rdmacomm.cli;

import io.rdmacomm.cli.copy.FileReceiver;
import io.rdmacomm.cli.copy.IncomingFolder;
import io.rdmacomm.cli.copy.RdmaReceiverLink;
import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.DeadlineException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.RdmaException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/// Receives files over end points, from several senders at a time.
final class RdmaCopyServer implements CopyServer {
    private static final Duration NEXT_SENDER = Duration.ofHours(1);
    private static final int MAX_DEPTH = 256;

    private final ServerSession session;
    private final IncomingFolder folder;
    private final PrintWriter out;
    private final PrintWriter err;
    private final AtomicLong senders = new AtomicLong();

    RdmaCopyServer(
            ListenOptions listen, DeviceOptions device, IncomingFolder folder, PrintWriter out, PrintWriter err) {
        this.folder = folder;
        this.out = out;
        this.err = err;
        this.session = ServerSession.listen(device.apply(SessionOptions.defaults()
                .withName("recv")
                .withThreadMode(ThreadMode.CALLER)
                .withChannel(SendCommand.channel(MAX_DEPTH))
                .withAddress(listen.bind(), listen.port())));
    }

    @Override
    public int port() {
        return session.port();
    }

    @Override
    public int run(boolean once) {
        while (session.isOpen()) {
            try {
                EndPoint sender = session.accept(NEXT_SENDER);
                if (once) {
                    return serve(sender);
                }
                Thread.ofPlatform().name("recv-", senders.get()).start(() -> serve(sender));
            } catch (DeadlineException _) {
                // Nobody came: go on waiting.
            } catch (ClosedException e) {
                if (session.isOpen()) {
                    throw e;
                }
            }
        }
        return 0;
    }

    private int serve(EndPoint sender) {
        try (EndPoint endPoint = sender;
                CopyReport report = new CopyReport(out, err, "recv", false);
                RdmaReceiverLink link = new RdmaReceiverLink(session, endPoint, senders.incrementAndGet())) {
            int failures = new FileReceiver(link, folder, report).run();
            report.summarize("rdma");
            return failures;
        } catch (RdmaException | CommandFailure e) {
            err.println("rdmacomm recv: " + sender.peerAddress() + ": " + FailureText.of(e));
            err.flush();
            return 1;
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
