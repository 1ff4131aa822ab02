package io.rdmacomm.nio.channel;

import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The options of a new channel of the JDK and the values that they accept. Thread-safe.
final class JdkOptions {
    static final JdkOptions OF_SOCKET = new JdkOptions(SystemSockets::openSocket);
    static final JdkOptions OF_SERVER = new JdkOptions(SystemSockets::openServerSocket);

    private interface Opener {
        NetworkChannel open() throws IOException;
    }

    private final Opener opener;
    private volatile @Nullable Map<SocketOption<?>, Object> defaults;

    private JdkOptions(Opener opener) {
        this.opener = opener;
    }

    /// The options and their values.
    ///
    /// @throws UncheckedIOException if no channel can be opened, for example because no descriptor is free
    Map<SocketOption<?>, Object> defaults() {
        Map<SocketOption<?>, Object> known = defaults;
        if (known == null) {
            known = read();
            defaults = known;
        }
        return known;
    }

    private Map<SocketOption<?>, Object> read() {
        Map<SocketOption<?>, Object> values = new HashMap<>();
        try (NetworkChannel channel = opener.open()) {
            for (SocketOption<?> option : channel.supportedOptions()) {
                values.put(option, channel.getOption(option));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the options of a socket are not known", e);
        }
        return Map.copyOf(values);
    }

    /// `SO_OOBINLINE`, which has no public name.
    @SuppressWarnings("unchecked")
    static SocketOption<Boolean> urgentDataInline() {
        for (SocketOption<?> option : OF_SOCKET.defaults().keySet()) {
            if ("SO_OOBINLINE".equals(option.name())) {
                return (SocketOption<Boolean>) option;
            }
        }
        throw new UnsupportedOperationException("'SO_OOBINLINE' not supported");
    }

    /// Sets an option of a temporary channel, so that the JDK and the system check its value.
    ///
    /// @return the value that the channel then has; the size of a buffer is returned unchanged, because the limits
    ///         of the system do not apply to rsockets
    /// @throws IllegalArgumentException if the option cannot have the value
    <T> T checked(SocketOption<T> name, T value) throws IOException {
        if (value instanceof Boolean) {
            return value;
        }
        try (NetworkChannel channel = opener.open()) {
            var _ = channel.setOption(name, value);
            return isSize(name) ? value : channel.getOption(name);
        }
    }

    private static boolean isSize(SocketOption<?> name) {
        return name.equals(StandardSocketOptions.SO_RCVBUF) || name.equals(StandardSocketOptions.SO_SNDBUF);
    }
}
