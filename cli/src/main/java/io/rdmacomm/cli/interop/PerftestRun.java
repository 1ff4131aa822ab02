package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;

/// One run of a perftest program, as either end. For one thread.
public final class PerftestRun {
    private static final String END = "word that the test is over";

    private final Context context;
    private final PerftestSettings settings;
    private final PerftestExchange exchange;

    private PerftestRun(Context context, PerftestSettings settings, PerftestExchange exchange) {
        this.context = context;
        this.settings = settings;
        this.exchange = exchange;
    }

    /// Runs as the client of the server at that host. Blocks.
    ///
    /// @throws CommandFailure if an end breaks the protocol, or is silent for longer than the timeout
    public static PerftestFigures run(Context context, PerftestSettings settings, String host, int port)
            throws IOException {
        try (PerftestExchange exchange = PerftestExchange.connect(host, port, settings)) {
            return new PerftestRun(context, settings, exchange).run().orElseThrow();
        }
    }

    /// Starts a server, which shows the figures of each run if it has any.
    ///
    /// @param address where to listen; port 0 picks a free one
    public static InteropServer listen(Context context, PerftestSettings settings, InetSocketAddress address)
            throws IOException {
        return new ControlServer(address, (client, results) -> {
            try (PerftestExchange exchange = PerftestExchange.accept(client, settings)) {
                Optional<PerftestFigures> figures = new PerftestRun(context, settings, exchange).run();
                results.accept(figures.map(PerftestFigures::text)
                        .orElseGet(() -> settings.program().label() + " served; the client has the figures"));
            }
        });
    }

    private Optional<PerftestFigures> run() throws IOException {
        exchange.agreeOnVersion();
        int page = exchange.agreeOnPage();
        PathMtu mtu = exchange.agreeOnMtu(mtu());
        try (PerftestPair pair = new PerftestPair(context, settings, page, mtu)) {
            PerftestKey own = pair.key();
            connect(pair, own);
            Optional<PerftestFigures> figures = measure(pair, own);
            if (settings.program().confirmsTheEnd()) {
                exchange.swap(own, END);
                exchange.sayDone();
            } else if (!exchange.isClient()) {
                exchange.awaitEnd();
            }
            return figures;
        }
    }

    private PathMtu mtu() {
        PathOptions path = settings.connection().path();
        return PathMtu.ofCode(Math.min(
                path.mtu().code(), context.port(path.port()).activeMtu().code()));
    }

    private void connect(PerftestPair pair, PerftestKey own) throws IOException {
        PerftestKey peer = exchange.swap(own, "key");
        if (!own.gid().equals(Gid.NONE) && peer.gid().equals(Gid.NONE)) {
            throw new CommandFailure("the peer sent no GID, and this end uses one: start "
                    + settings.program().label() + " with -x INDEX");
        }
        if (own.gid().equals(Gid.NONE) && !peer.gid().equals(Gid.NONE)) {
            throw new CommandFailure("the peer uses a GID, and this end does not: give --gid-index, or start "
                    + settings.program().label() + " without -x");
        }
        for (int i = 1; i < settings.program().keysBeforeConnecting(); i++) {
            confirm(peer, own);
        }
        pair.connect(peer, exchange.remoteAddress());
        if (settings.program().operation() == PerftestProgram.Operation.SEND) {
            // Post them before the last exchange, because the peer may send right after it.
            pair.postReceives();
        }
        for (int i = 0; i < settings.program().keysBeforeTheTest(); i++) {
            confirm(peer, own);
        }
    }

    /// Exchanges keys again. The peer's must stay the same: a different one belongs to another queue pair.
    private void confirm(PerftestKey peer, PerftestKey own) throws IOException {
        PerftestKey again = exchange.swap(own, "key");
        if (!again.equals(peer)) {
            throw new CommandFailure("the peer tests with several queue pairs: start "
                    + settings.program().label() + " without -q, or with -q 1");
        }
    }

    private Optional<PerftestFigures> measure(PerftestPair pair, PerftestKey own) throws IOException {
        Optional<PerftestFigures> figures = work(new PerftestWork(pair, settings));
        if (!settings.program().reports()) {
            return figures;
        }
        exchange.swap(own, END);
        BandwidthFigures told =
                exchange.swap(figures.map(BandwidthFigures.class::cast).orElse(BandwidthFigures.NONE));
        if (exchange.isClient()) {
            return figures;
        }
        if (!told.isPlausible()) {
            throw new CommandFailure("the client reports figures that cannot be real: check that "
                    + settings.program().label() + " runs there, in version 5.70 or newer");
        }
        return Optional.of(told);
    }

    private Optional<PerftestFigures> work(PerftestWork work) {
        if (exchange.isClient()) {
            return Optional.of(work.initiate());
        }
        return settings.program().isOneSided() ? Optional.empty() : Optional.of(work.answer());
    }
}
