package io.rdmacomm.verbs.service;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.Map;

/// Makes the kernel end an idle connection whose other host does not answer, because it has crashed or the network is
/// cut (tcp(7)). A host also answers for a stopped process, whose connection is kept. Probes begin after half of the
/// time, and several must be lost.
public final class TcpKeepAlive {
    private static final int PROBES = 3;

    private TcpKeepAlive() {}

    /// Sets this for a connection. Where the system lacks the options, it keeps its own times.
    ///
    /// @param seconds how long the other host may be silent, 4 to 32400
    public static void set(SocketChannel channel, int seconds) throws IOException {
        int interval = Math.max(1, seconds / (2 * PROBES));
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        Map<SocketOption<Integer>, Integer> times = Map.of(
                ExtendedSocketOptions.TCP_KEEPIDLE, seconds - PROBES * interval,
                ExtendedSocketOptions.TCP_KEEPINTERVAL, interval,
                ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
        for (Map.Entry<SocketOption<Integer>, Integer> each : times.entrySet()) {
            if (channel.supportedOptions().contains(each.getKey())) {
                channel.setOption(each.getKey(), each.getValue());
            }
        }
    }
}
