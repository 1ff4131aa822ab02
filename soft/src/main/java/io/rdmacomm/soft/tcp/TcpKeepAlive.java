package io.rdmacomm.soft.tcp;

import io.rdmacomm.verbs.service.ExtendedSocketOptions;
import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.Map;

/// Makes the kernel end an idle connection whose other host has crashed or is cut off (tcp(7)). A connection to a
/// stopped process continues, as its host still answers. Probes begin when half of the time is over, and the
/// connection ends when several are lost.
final class TcpKeepAlive {
    private static final int PROBES = 3;

    private TcpKeepAlive() {}

    /// @param seconds how long the other host may be silent, 4 to 32400
    static void set(SocketChannel channel, int seconds) throws IOException {
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
