package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.Context;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.function.Consumer;

/// The server of ibv_rc_pingpong(1): each client plays its own run.
final class PingPongServer implements ControlServer.Session {
    private final Context context;
    private final PingPongSettings settings;

    private PingPongServer(Context context, PingPongSettings settings) {
        this.context = context;
        this.settings = settings;
    }

    /// Starts to listen.
    ///
    /// @param address the TCP address for exchanging the addresses of the queue pairs
    static InteropServer listen(Context context, PingPongSettings settings, InetSocketAddress address)
            throws IOException {
        return new ControlServer(address, new PingPongServer(context, settings));
    }

    @Override
    public void serve(Socket client, Consumer<String> results) throws IOException {
        try (PingPongExchange exchange = PingPongExchange.accept(client, settings);
                PingPongRun run = new PingPongRun(context, settings, results)) {
            run.play(exchange).lines().forEach(results);
        }
    }
}
