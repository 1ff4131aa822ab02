package io.rdmacomm.verbs.service;

import java.net.SocketOption;

/// The socket options of the module `jdk.net` (`jdk.net.ExtendedSocketOptions`) that rdmacomm uses. The module may
/// be missing, in an image or if no module of the program needs it. Then no channel supports the options, so ask
/// [java.nio.channels.NetworkChannel#supportedOptions()] first.
public final class ExtendedSocketOptions {
    /// The idle time before a connection is probed, in seconds.
    public static final SocketOption<Integer> TCP_KEEPIDLE = find("TCP_KEEPIDLE", Integer.class);

    /// The time between two probes, in seconds.
    public static final SocketOption<Integer> TCP_KEEPINTERVAL = find("TCP_KEEPINTERVAL", Integer.class);

    /// The number of lost probes after which the connection ends.
    public static final SocketOption<Integer> TCP_KEEPCOUNT = find("TCP_KEEPCOUNT", Integer.class);

    /// Whether TCP acknowledges immediately.
    public static final SocketOption<Boolean> TCP_QUICKACK = find("TCP_QUICKACK", Boolean.class);

    /// Whether packets must not be fragmented.
    public static final SocketOption<Boolean> IP_DONTFRAGMENT = find("IP_DONTFRAGMENT", Boolean.class);

    private record Absent<T>(String name, Class<T> type) implements SocketOption<T> {
        @Override
        public String toString() {
            return name;
        }
    }

    private ExtendedSocketOptions() {}

    @SuppressWarnings("unchecked") // its type is compared
    private static <T> SocketOption<T> find(String name, Class<T> type) {
        try {
            SocketOption<?> option = (SocketOption<?>) Class.forName("jdk.net.ExtendedSocketOptions")
                    .getField(name)
                    .get(null);
            if (option.type().equals(type)) {
                return (SocketOption<T>) option;
            }
        } catch (ReflectiveOperationException e) {
            // Handled below.
        }
        return new Absent<>(name, type);
    }
}
