package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.BufferSizes;
import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The options of a socket. Thread-safe.
final class SocketOptionValues {
    private static final Map<SocketOption<?>, Object> OF_SOCKET = Map.of(
            StandardSocketOptions.SO_RCVBUF,
            BufferSizes.defaults().receive(),
            StandardSocketOptions.SO_SNDBUF,
            BufferSizes.defaults().send(),
            StandardSocketOptions.SO_KEEPALIVE,
            false,
            StandardSocketOptions.SO_REUSEADDR,
            false,
            StandardSocketOptions.SO_LINGER,
            -1,
            StandardSocketOptions.TCP_NODELAY,
            false,
            StandardSocketOptions.IP_TOS,
            0,
            MessagesOption.INSTANCE,
            BufferSizes.defaults().messages());
    private static final Map<SocketOption<?>, Object> OF_SERVER = Map.of(
            StandardSocketOptions.SO_RCVBUF,
            BufferSizes.defaults().receive(),
            StandardSocketOptions.SO_REUSEADDR,
            true,
            MessagesOption.INSTANCE,
            BufferSizes.defaults().messages());
    private static final int MOST_TYPE_OF_SERVICE = 255;

    private final Map<SocketOption<?>, Object> defaults;
    private final Map<SocketOption<?>, Object> values = new ConcurrentHashMap<>();

    private SocketOptionValues(Map<SocketOption<?>, Object> defaults) {
        this.defaults = defaults;
    }

    static SocketOptionValues ofSocket() {
        return new SocketOptionValues(OF_SOCKET);
    }

    static SocketOptionValues ofServer() {
        return new SocketOptionValues(OF_SERVER);
    }

    /// The options that can be set.
    Set<SocketOption<?>> supported() {
        return defaults.keySet();
    }

    /// Copies the options that were set to a channel of the JDK.
    void applyTo(NetworkChannel channel) throws IOException {
        for (Map.Entry<SocketOption<?>, Object> option : values.entrySet()) {
            apply(channel, option.getKey(), option.getValue());
        }
    }

    private static <T> void apply(NetworkChannel channel, SocketOption<T> name, Object value) throws IOException {
        if (isOfJdk(name)) {
            var _ = channel.setOption(name, name.type().cast(value));
        }
    }

    private static boolean isOfJdk(SocketOption<?> name) {
        return !name.equals(MessagesOption.INSTANCE);
    }

    /// Checks an option and its value as the channels of the JDK do.
    ///
    /// @throws UnsupportedOperationException if there is no such option
    /// @throws IllegalArgumentException if the value is not one of it
    <T> void check(SocketOption<T> name, @Nullable T value) {
        Objects.requireNonNull(name);
        checkSupported(name);
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
        int number = value instanceof Integer integer ? integer : 1;
        boolean buffer = name.equals(StandardSocketOptions.SO_RCVBUF)
                || name.equals(StandardSocketOptions.SO_SNDBUF)
                || name.equals(MessagesOption.INSTANCE);
        boolean service = name.equals(StandardSocketOptions.IP_TOS);
        if ((buffer && number < 0) || (service && (number < 0 || number > MOST_TYPE_OF_SERVICE))) {
            throw new IllegalArgumentException("Invalid value " + number + " for " + name);
        }
    }

    void checkSupported(SocketOption<?> name) {
        if (!defaults.containsKey(name)) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
    }

    /// Sets an option that was checked, at a channel of the JDK, too, if there is one.
    <T> void set(@Nullable NetworkChannel channel, SocketOption<T> name, T value) throws IOException {
        if (channel != null) {
            apply(channel, name, value);
        }
        values.put(name, value);
    }

    /// Takes what an accepted socket has from the one that listens.
    void inherit(SocketOptionValues listening) {
        values.put(StandardSocketOptions.SO_RCVBUF, listening.get(StandardSocketOptions.SO_RCVBUF));
        values.put(MessagesOption.INSTANCE, listening.get(MessagesOption.INSTANCE));
    }

    /// The value of an option that is supported, that of a channel of the JDK if there is one.
    <T> T get(@Nullable NetworkChannel channel, SocketOption<T> name) throws IOException {
        return channel != null && isOfJdk(name) ? channel.getOption(name) : get(name);
    }

    private <T> T get(SocketOption<T> name) {
        Object value = values.get(name);
        return name.type().cast(Objects.requireNonNull(value == null ? defaults.get(name) : value));
    }

    int number(SocketOption<Integer> name) {
        return get(name);
    }

    /// The memory of a connection with these options.
    BufferSizes sizes() {
        BufferSizes sizes = BufferSizes.defaults()
                .withReceive(number(StandardSocketOptions.SO_RCVBUF))
                .withMessages(number(MessagesOption.INSTANCE));
        return defaults.containsKey(StandardSocketOptions.SO_SNDBUF)
                ? sizes.withSend(number(StandardSocketOptions.SO_SNDBUF))
                : sizes;
    }
}
