package io.rdmacomm.nio.channel;

import java.net.SocketOption;

/// The option of sockets that only rsockets have.
public final class MessagesOption implements SocketOption<Integer> {
    /// The one.
    public static final MessagesOption INSTANCE = new MessagesOption();

    private MessagesOption() {}

    @Override
    public String name() {
        return "MESSAGES";
    }

    @Override
    public Class<Integer> type() {
        return Integer.class;
    }

    @Override
    public String toString() {
        return name();
    }
}
