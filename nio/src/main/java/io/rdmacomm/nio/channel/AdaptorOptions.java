package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.NetworkChannel;

/// The options of a channel for its socket, whose exceptions are others.
final class AdaptorOptions {
    private final NetworkChannel channel;

    AdaptorOptions(NetworkChannel channel) {
        this.channel = channel;
    }

    /// The exception of a socket whose channel is closed.
    static SocketException closed(IOException cause) {
        return new SocketException("Socket is closed", cause);
    }

    <T> void set(SocketOption<T> name, T value) throws SocketException {
        try {
            var _ = channel.setOption(name, value);
        } catch (IOException e) {
            throw closed(e);
        }
    }

    <T> T get(SocketOption<T> name) throws SocketException {
        try {
            return channel.getOption(name);
        } catch (IOException e) {
            throw closed(e);
        }
    }

    /// Sets the size of a buffer.
    void setSize(SocketOption<Integer> name, int bytes) throws SocketException {
        if (bytes <= 0) {
            throw new IllegalArgumentException("Invalid buffer size " + bytes);
        }
        set(name, bytes);
    }
}
