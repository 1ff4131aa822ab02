package io.rdmacomm.soft.tcp;

import io.rdmacomm.verbs.service.ExtendedSocketOptions;
import java.io.IOException;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.util.Set;

/// Has TCP itself acknowledge a stream at once (tcp(7), TCP_QUICKACK), where the system can.
///
/// Linux takes a receiver that sends something in between for one end of a dialogue, where acknowledgements wait for
/// the next message. In a stream there is none: then they are sent where the sender's processor is at work, not
/// when the receiver has read, and the stream gets slower by about a fifth. The option holds only until the
/// next bytes are sent, so it is set again each time.
final class PromptAcknowledgement {
    private static final SocketOption<Boolean> QUICK = ExtendedSocketOptions.TCP_QUICKACK;

    private final SocketChannel channel;
    private final boolean possible;

    PromptAcknowledgement(SocketChannel channel) {
        Set<SocketOption<?>> options = channel.supportedOptions();
        this.channel = channel;
        this.possible = options.contains(QUICK);
    }

    /// Something was sent in the middle of a stream that comes in.
    void renew() throws IOException {
        if (possible) {
            channel.setOption(QUICK, Boolean.TRUE);
        }
    }
}
