package io.rdmacomm.compare.peer;

import java.io.IOException;

/// Starts one end of a peer: `PeerMain NAME server|client PORT BYTES WARMUP SECONDS mean|median [SERVER-COMMAND]`.
/// The client prints a line with the figure.
public final class PeerMain {
    /// The line with the figure begins so.
    public static final String FIGURE = "figure ";

    private PeerMain() {}

    /// Runs one end.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Peer peer = peer(arguments[0]);
        Task task = new Task(
                Integer.parseInt(arguments[2]),
                Integer.parseInt(arguments[3]),
                nanos(arguments[4]),
                nanos(arguments[5]),
                arguments[6].equals("median"),
                arguments.length > 7 ? arguments[7] : "");
        if (arguments[1].equals("server")) {
            peer.serve(task);
        } else {
            System.out.println(FIGURE + peer.measure(task));
        }
    }

    /// Makes only the requested peer: otherwise, loading the classes of the others would count as its start.
    private static Peer peer(String name) {
        return switch (name) {
            case "nio-ping" -> new SocketPingPong(false);
            case "nio-request" -> new SocketPingPong(true);
            case "nio-stream" -> new SocketStream();
            case "nio-start" -> new NewJvm(new SocketPingPong(false), true);
            case "nio-start-asleep" -> new NewJvm(new SocketPingPong(true), true);
            case "nio-first" -> new NewJvm(new SocketPingPong(false), false);
            case "netty-ping" -> new NettyPeer(false);
            case "netty-stream" -> new NettyPeer(true);
            case "aeron-ping" -> new AeronPeer(false, false);
            case "aeron-stream" -> new AeronPeer(true, false);
            case "aeron-stream-small" -> new AeronPeer(true, true);
            case "jucx-send-ping" -> new JucxPing(false);
            case "jucx-send-stream" -> new JucxStream(false);
            case "jucx-put-ping" -> new JucxPing(true);
            case "jucx-put-stream" -> new JucxStream(true);
            case "pipe-request" -> new PipePingPong();
            case "rdmacomm-start" -> new NewJvm(new SessionRequests(true), true);
            case "rdmacomm-start-asleep" -> new NewJvm(new SessionRequests(false), true);
            case "rdmacomm-first" -> new NewJvm(new SessionRequests(true), false);
            default -> throw new IllegalArgumentException("there is no peer " + name);
        };
    }

    private static long nanos(String seconds) {
        return (long) (Double.parseDouble(seconds) * 1e9);
    }
}
