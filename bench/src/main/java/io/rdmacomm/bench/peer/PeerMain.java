package io.rdmacomm.bench.peer;

import java.io.IOException;
import java.util.Map;

/// Starts one end of a peer: `PeerMain NAME server|client PORT BYTES WARMUP SECONDS [SERVER-COMMAND]`. The client
/// prints
/// a line with the figure.
public final class PeerMain {
    /// The line with the figure begins so.
    public static final String FIGURE = "figure ";

    private static final Map<String, Peer> PEERS = Map.of(
            "nio-ping", new SocketPingPong(false),
            "nio-request", new SocketPingPong(true),
            "nio-stream", new SocketStream(),
            "netty-ping", new NettyPeer(false),
            "netty-stream", new NettyPeer(true),
            "aeron-ping", new AeronPeer(false),
            "aeron-stream", new AeronPeer(true),
            "pipe-request", new PipePingPong());

    private PeerMain() {}

    /// Runs one end.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Peer peer = PEERS.get(arguments[0]);
        if (peer == null) {
            throw new IllegalArgumentException("there is no peer " + arguments[0]);
        }
        Task task = new Task(
                Integer.parseInt(arguments[2]),
                Integer.parseInt(arguments[3]),
                nanos(arguments[4]),
                nanos(arguments[5]),
                arguments.length > 6 ? arguments[6] : "");
        if (arguments[1].equals("server")) {
            peer.serve(task);
        } else {
            System.out.println(FIGURE + peer.measure(task));
        }
    }

    private static long nanos(String seconds) {
        return (long) (Double.parseDouble(seconds) * 1e9);
    }
}
