package io.rdmacomm.compare.peer;

import java.io.IOException;
import java.util.Map;

/// Starts one end of a peer: `PeerMain NAME server|client PORT BYTES WARMUP SECONDS [SERVER-COMMAND]`.
/// The client prints a line with the figure.
public final class PeerMain {
    /// The line with the figure begins so.
    public static final String FIGURE = "figure ";

    private static final Map<String, Peer> PEERS = Map.ofEntries(
            Map.entry("nio-ping", new SocketPingPong(false)),
            Map.entry("nio-request", new SocketPingPong(true)),
            Map.entry("nio-stream", new SocketStream()),
            Map.entry("nio-start", new NewJvm(new SocketPingPong(false), true)),
            Map.entry("nio-first", new NewJvm(new SocketPingPong(false), false)),
            Map.entry("netty-ping", new NettyPeer(false)),
            Map.entry("netty-stream", new NettyPeer(true)),
            Map.entry("aeron-ping", new AeronPeer(false, false)),
            Map.entry("aeron-stream", new AeronPeer(true, false)),
            Map.entry("aeron-stream-small", new AeronPeer(true, true)),
            Map.entry("jucx-send-ping", new JucxPing(false)),
            Map.entry("jucx-send-stream", new JucxStream(false)),
            Map.entry("jucx-put-ping", new JucxPing(true)),
            Map.entry("jucx-put-stream", new JucxStream(true)),
            Map.entry("pipe-request", new PipePingPong()),
            Map.entry("rdmacomm-start", new NewJvm(new SessionRequests(), true)),
            Map.entry("rdmacomm-first", new NewJvm(new SessionRequests(), false)));

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
