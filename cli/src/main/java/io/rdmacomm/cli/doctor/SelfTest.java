package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.ChildServer;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Runs all checks on a device.
final class SelfTest {
    private static final int TIMEOUT_PARTS = 4;

    private final Context context;
    private final SessionOptions options;
    private final CheckRunner runner;
    private final Duration timeout;
    private final CommandOutput output;
    private final Consumer<CheckResult> listener;
    private final List<CheckResult> results = new ArrayList<>();

    /// @param context the open device
    /// @param options how sessions connect; the device port in them is replaced
    /// @param limit the longest time of a check
    /// @param output shows failed clients of a server in this process
    /// @param listener receives each result at once
    SelfTest(
            Context context,
            SessionOptions options,
            Duration limit,
            CommandOutput output,
            Consumer<CheckResult> listener) {
        this.context = context;
        this.options = options;
        this.runner = new CheckRunner(limit);
        this.timeout = limit.dividedBy(TIMEOUT_PARTS);
        this.output = output;
        this.listener = listener;
    }

    /// The results so far.
    List<CheckResult> results() {
        return results;
    }

    /// Whether a check did not return, so that the device cannot be closed.
    boolean isStuck() {
        return runner.hasAbandoned();
    }

    /// Tests a port with two queue pairs of this process, and then with a second process. With RoCE, a server in
    /// this process replaces the second process, because the address of the device belongs to this one.
    ///
    /// @param wanted the address at which the processes meet; the wildcard address for one of the device
    /// @param arguments options for the second process
    void runAlone(int port, InetAddress wanted, List<String> arguments) throws IOException {
        InetAddress local = PortAddresses.of(context, port, wanted);
        SessionOptions here = onPort(options, port);
        boolean byAddress = SelfTestServer.isByAddress(context, here);
        ConnectionOptions how = PortAddresses.resolved(context, here.channel().connection(), local);
        LocalPeer peer = new LocalPeer(context, how, byAddress ? local : null);
        CheckSetup setup = new CheckSetup(context, how, byAddress, peer, timeout);
        QueuePairChecks.all().forEach(check -> run(check, setup));
        if (RoceChecks.isRoce(context.device())) {
            runSessionsHere(here.withHost(local.getHostAddress()).withPort(0), setup);
            return;
        }
        List<String> words = new ArrayList<>(
                List.of("doctor", "--serve", "--until-eof", "--bind", local.getHostAddress(), "--port", "0"));
        words.addAll(arguments);
        try (ChildServer child = ChildServer.start(words)) {
            runSessions(here.withAddress(local.getHostAddress(), child.port()), setup);
        } catch (CommandFailure e) {
            add(new CheckResult("second process", port, Verdict.ofFailure(e), 0));
        }
    }

    private void runSessionsHere(SessionOptions options, CheckSetup setup) {
        try (SelfTestServer server = new SelfTestServer(options, output)) {
            Thread.ofPlatform().daemon().name("doctor server").start(server::run);
            runSessions(options.withPort(server.port()), setup);
        }
    }

    /// Tests a port with another host.
    void runWith(PeerAddress address, int port) {
        InetAddress local = address.localAddress(PeerAddress.DEFAULT_PORT);
        SessionOptions here = onPort(options, port).withAddress(address.host(), address.port());
        ConnectionOptions how = PortAddresses.resolved(context, here.channel().connection(), local);
        boolean roce = RoceChecks.isRoce(context.device());
        if (roce && !answers(address, how)) {
            return;
        }
        try (RemotePeer peer = RemotePeer.connect(here)) {
            CheckSetup setup = new CheckSetup(context, how, peer.isByAddress(), peer, timeout);
            QueuePairChecks.all().forEach(check -> run(check, setup));
            runSessions(here, setup);
        } catch (RdmaException e) {
            boolean alone = roce && e.getCause() instanceof ConnectException;
            Verdict verdict = alone
                    ? Verdict.notSupported(
                            "the other checks need rdmacomm doctor --serve there, on TCP port " + address.port())
                    : Verdict.ofFailure(e);
            add(new CheckResult("connection to " + address, port, verdict, 0));
        }
    }

    private boolean answers(PeerAddress address, ConnectionOptions how) {
        CheckSetup setup = new CheckSetup(context, how, false, new LocalPeer(context, how, null), timeout);
        CheckResult result = runner.run(new RoceAnswer(address.host()), setup);
        add(result);
        return !result.hasFailed();
    }

    private void runSessions(SessionOptions server, CheckSetup setup) {
        run(new SessionsCheck(server), setup);
        run(new BenchCheck(server), setup);
    }

    private void run(Check check, CheckSetup setup) {
        add(runner.run(check, setup));
    }

    private void add(CheckResult result) {
        results.add(result);
        listener.accept(result);
    }

    /// These options with another device port.
    static SessionOptions onPort(SessionOptions options, int port) {
        ConnectionOptions connection = options.channel().connection();
        return options.withChannel(options.channel()
                .withConnection(connection.withPath(connection.path().withPort(port))));
    }
}
