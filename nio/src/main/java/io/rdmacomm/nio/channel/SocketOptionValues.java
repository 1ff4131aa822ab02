package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.BufferSizes;
import io.rdmacomm.nio.rsocket.KeepAlive;
import io.rdmacomm.verbs.service.ExtendedSocketOptions;
import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The options of a socket that is, or may become, an rsocket. Thread-safe.
final class SocketOptionValues {
    private static final Set<SocketOption<?>> KEEP_ALIVE = Set.of(
            StandardSocketOptions.SO_KEEPALIVE,
            ExtendedSocketOptions.TCP_KEEPIDLE,
            ExtendedSocketOptions.TCP_KEEPINTERVAL,
            ExtendedSocketOptions.TCP_KEEPCOUNT);
    /// The values of rsockets that differ from the JDK's, or that the JDK may lack.
    private static final Map<SocketOption<?>, Integer> OF_RSOCKETS = Map.of(
            StandardSocketOptions.SO_RCVBUF, BufferSizes.defaults().receive(),
            StandardSocketOptions.SO_SNDBUF, BufferSizes.defaults().send(),
            RsocketOption.MESSAGES, BufferSizes.defaults().messages(),
            RsocketOption.MAPPINGS, BufferSizes.defaults().mappings(),
            // A JVM without the module jdk.net lacks these; the defaults are those of Linux (tcp(7)).
            ExtendedSocketOptions.TCP_KEEPIDLE, 7200,
            ExtendedSocketOptions.TCP_KEEPINTERVAL, 75,
            ExtendedSocketOptions.TCP_KEEPCOUNT, 9);

    private final JdkOptions jdk;
    private final Map<SocketOption<?>, Object> values = new ConcurrentHashMap<>();

    private SocketOptionValues(JdkOptions jdk) {
        this.jdk = jdk;
    }

    static SocketOptionValues ofSocket() {
        return new SocketOptionValues(JdkOptions.OF_SOCKET);
    }

    static SocketOptionValues ofServer() {
        return new SocketOptionValues(JdkOptions.OF_SERVER);
    }

    /// The JDK's options and those of rsockets.
    Set<SocketOption<?>> supported() {
        Set<SocketOption<?>> all = new HashSet<>(jdk.defaults().keySet());
        all.add(RsocketOption.MESSAGES);
        all.add(RsocketOption.MAPPINGS);
        return Set.copyOf(all);
    }

    private boolean isSupported(SocketOption<?> name) {
        return !isOfJdk(name) || jdk.defaults().containsKey(name);
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

    /// Checks an option as the channels of the JDK do.
    ///
    /// @throws UnsupportedOperationException if there is no such option
    /// @throws IllegalArgumentException if the value has the wrong type
    <T> void check(SocketOption<T> name, @Nullable T value) {
        Objects.requireNonNull(name);
        checkSupported(name);
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
        if (name instanceof RsocketOption && (Integer) value < 0) {
            throw new IllegalArgumentException("Invalid value " + value + " for " + name);
        }
    }

    void checkSupported(SocketOption<?> name) {
        if (!isSupported(name)) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
    }

    /// Sets an option, on a channel of the JDK if there is one. Keeps an option that has no meaning for rsockets.
    ///
    /// @throws IllegalArgumentException if the option cannot have the value
    <T> void set(@Nullable NetworkChannel channel, SocketOption<T> name, T value) throws IOException {
        if (channel != null) {
            apply(channel, name, value);
        }
        values.put(name, channel == null && isOfJdk(name) ? jdk.checked(name, value) : value);
    }

    /// Copies the options that an accepted socket inherits from the listening one.
    void inherit(SocketOptionValues listening) {
        for (SocketOption<?> option : listening.supported()) {
            values.put(option, listening.get(option));
        }
    }

    /// The value of a supported option; from a channel of the JDK if there is one.
    <T> T get(@Nullable NetworkChannel channel, SocketOption<T> name) throws IOException {
        return channel != null && isOfJdk(name) ? channel.getOption(name) : get(name);
    }

    private <T> T get(SocketOption<T> name) {
        Object value = values.get(name);
        if (value == null) {
            value = OF_RSOCKETS.get(name);
        }
        return name.type()
                .cast(value == null ? Objects.requireNonNull(jdk.defaults().get(name)) : value);
    }

    int number(SocketOption<Integer> name) {
        return get(name);
    }

    /// Whether [#keepAlive()] depends on an option.
    static boolean isKeepAlive(SocketOption<?> name) {
        return KEEP_ALIVE.contains(name);
    }

    /// The times at which a connection with these options probes an idle peer; null for never.
    @Nullable
    KeepAlive keepAlive() {
        return get(StandardSocketOptions.SO_KEEPALIVE)
                ? new KeepAlive(
                        Duration.ofSeconds(number(ExtendedSocketOptions.TCP_KEEPIDLE)),
                        Duration.ofSeconds(number(ExtendedSocketOptions.TCP_KEEPINTERVAL)),
                        number(ExtendedSocketOptions.TCP_KEEPCOUNT))
                : null;
    }

    /// The memory of a connection with these options. As with TCP, a receive buffer whose size the program has set does
    /// not grow (tcp(7)).
    BufferSizes sizes() {
        BufferSizes sizes = BufferSizes.defaults();
        if (values.containsKey(StandardSocketOptions.SO_RCVBUF)) {
            sizes = sizes.withReceive(number(StandardSocketOptions.SO_RCVBUF));
        }
        return sizes.withSend(number(StandardSocketOptions.SO_SNDBUF))
                .withMessages(number(RsocketOption.MESSAGES))
                .withMappings(number(RsocketOption.MAPPINGS));
    }
}
