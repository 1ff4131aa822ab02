package io.rdmacomm.soft.tcp;

import io.rdmacomm.verbs.service.ExtendedSocketOptions;
import java.io.IOException;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.util.Set;

/// Makes TCP acknowledge an incoming stream at once (tcp(7), TCP_QUICKACK), where the system can.
///
/// Linux delays the ACKs of a receiver that also sends, to attach them to its next message. In a one-way stream there
/// is none: the ACKs are then sent where the sender's processor is at work instead of when the receiver reads, and
/// the stream gets slower by about a fifth. Sending clears the option, so it is set again each time.
final class PromptAcknowledgement {
    private static final SocketOption<Boolean> QUICK = ExtendedSocketOptions.TCP_QUICKACK;

    private final SocketChannel channel;
    private final boolean possible;

    PromptAcknowledgement(SocketChannel channel) {
        Set<SocketOption<?>> options = channel.supportedOptions();
        this.channel = channel;
        this.possible = options.contains(QUICK);
    }

    /// Sets the option again, after something was sent during an incoming stream.
    void renew() throws IOException {
        if (possible) {
            channel.setOption(QUICK, Boolean.TRUE);
        }
    }
}
