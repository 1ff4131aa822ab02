package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.BufferSizes;
import io.rdmacomm.nio.rsocket.KeepAlive;
import io.rdmacomm.verbs.service.ExtendedSocketOptions;
import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The options of a socket. Thread-safe.
final class SocketOptionValues {
    /// Those of the system for TCP, in seconds, seconds and probes (tcp(7)).
    private static final Map<SocketOption<?>, Object> KEEP_ALIVE = Map.of(
            ExtendedSocketOptions.TCP_KEEPIDLE, 7200,
            ExtendedSocketOptions.TCP_KEEPINTERVAL, 75,
            ExtendedSocketOptions.TCP_KEEPCOUNT, 9);
    private static final Map<SocketOption<?>, Integer> MOST_KEEP_ALIVE = Map.of(
            ExtendedSocketOptions.TCP_KEEPIDLE, 32_767,
            ExtendedSocketOptions.TCP_KEEPINTERVAL, 32_767,
            ExtendedSocketOptions.TCP_KEEPCOUNT, 127);
    private static final Map<SocketOption<?>, Object> OF_BOTH = both(
            Map.of(
                    StandardSocketOptions.SO_RCVBUF,
                    BufferSizes.defaults().receive(),
                    RsocketOption.MESSAGES,
                    BufferSizes.defaults().messages(),
                    RsocketOption.MAPPINGS,
                    BufferSizes.defaults().mappings()),
            KEEP_ALIVE);
    private static final Map<SocketOption<?>, Object> OF_SOCKET = both(
            OF_BOTH,
            Map.of(
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
                    0));
    private static final Map<SocketOption<?>, Object> OF_SERVER =
            both(OF_BOTH, Map.of(StandardSocketOptions.SO_REUSEADDR, true));
    private static final int MOST_TYPE_OF_SERVICE = 255;

    private final Map<SocketOption<?>, Object> defaults;
    private final Map<SocketOption<?>, Object> values = new ConcurrentHashMap<>();

    private SocketOptionValues(Map<SocketOption<?>, Object> defaults) {
        this.defaults = defaults;
    }

    private static Map<SocketOption<?>, Object> both(
            Map<SocketOption<?>, Object> some, Map<SocketOption<?>, Object> others) {
        Map<SocketOption<?>, Object> all = new HashMap<>(some);
        all.putAll(others);
        return Map.copyOf(all);
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
        return !(name instanceof RsocketOption);
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
                || name instanceof RsocketOption;
        boolean service = name.equals(StandardSocketOptions.IP_TOS);
        Integer most = MOST_KEEP_ALIVE.get(name);
        if ((buffer && number < 0)
                || (service && (number < 0 || number > MOST_TYPE_OF_SERVICE))
                || (most != null && (number < 1 || number > most))) {
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
        for (SocketOption<?> option : OF_BOTH.keySet()) {
            values.put(option, listening.get(option));
        }
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

    /// Whether an option is one of those that [#keepAlive()] depends on.
    static boolean isKeepAlive(SocketOption<?> name) {
        return KEEP_ALIVE.containsKey(name) || name.equals(StandardSocketOptions.SO_KEEPALIVE);
    }

    /// When a connection with these options asks an idle peer for a sign of life; null for never.
    @Nullable
    KeepAlive keepAlive() {
        return get(StandardSocketOptions.SO_KEEPALIVE)
                ? new KeepAlive(
                        Duration.ofSeconds(number(ExtendedSocketOptions.TCP_KEEPIDLE)),
                        Duration.ofSeconds(number(ExtendedSocketOptions.TCP_KEEPINTERVAL)),
                        number(ExtendedSocketOptions.TCP_KEEPCOUNT))
                : null;
    }

    /// The memory of a connection with these options.
    BufferSizes sizes() {
        BufferSizes sizes = BufferSizes.defaults()
                .withReceive(number(StandardSocketOptions.SO_RCVBUF))
                .withMessages(number(RsocketOption.MESSAGES))
                .withMappings(number(RsocketOption.MAPPINGS));
        return defaults.containsKey(StandardSocketOptions.SO_SNDBUF)
                ? sizes.withSend(number(StandardSocketOptions.SO_SNDBUF))
                : sizes;
    }
}
