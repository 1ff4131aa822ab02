package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

/// Sets and gets options for the socket of a channel, and translates exceptions to those that sockets throw.
final class AdaptorOptions {
    private final NetworkChannel channel;

    AdaptorOptions(NetworkChannel channel) {
        this.channel = channel;
    }

    /// The exception that a call of the socket throws for one of its channel: an [IOException] is unchanged, a
    /// wrong state becomes a [SocketException].
    static IOException translated(Exception cause) {
        return cause instanceof IOException same ? same : socketException(cause);
    }

    private static SocketException socketException(Exception cause) {
        return switch (cause) {
            case SocketException same -> same;
            case ClosedChannelException closed -> new SocketException("Socket is closed", closed);
            case NotYetConnectedException state -> new SocketException("Socket is not connected", state);
            case AlreadyBoundException state -> new SocketException("Already bound", state);
            case AlreadyConnectedException state -> new SocketException("Already connected", state);
            case NotYetBoundException state -> new SocketException("Socket is not bound yet", state);
            case UnsupportedAddressTypeException type -> new SocketException("Unsupported address type", type);
            case UnresolvedAddressException host -> new SocketException("Unresolved address", host);
            case RuntimeException other -> throw other;
            default -> new SocketException(cause.getMessage(), cause);
        };
    }

    <T> void set(SocketOption<T> name, T value) throws SocketException {
        try {
            var _ = channel.setOption(name, value);
        } catch (IOException e) {
            throw socketException(e);
        }
    }

    <T> T get(SocketOption<T> name) throws SocketException {
        try {
            return channel.getOption(name);
        } catch (IOException e) {
            throw socketException(e);
        }
    }

    /// Sets the size of a buffer.
    ///
    /// @param wrong the message of the exception if the size is not positive
    void setSize(SocketOption<Integer> name, int bytes, String wrong) throws SocketException {
        if (bytes <= 0) {
            throw new IllegalArgumentException(wrong);
        }
        set(name, bytes);
    }
}
