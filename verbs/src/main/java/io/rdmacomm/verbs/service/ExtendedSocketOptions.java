package io.rdmacomm.verbs.service;

import java.net.SocketOption;

/// The options of sockets in the module `jdk.net` (`jdk.net.ExtendedSocketOptions`) that rdmacomm uses. A program whose
/// modules do not need that module runs without it, and so does an image that lacks it. No channel supports the
/// options then, so ask [java.nio.channels.NetworkChannel#supportedOptions()] first.
public final class ExtendedSocketOptions {
    /// When an idle connection is probed, in seconds.
    public static final SocketOption<Integer> TCP_KEEPIDLE = find("TCP_KEEPIDLE", Integer.class);

    /// The time between two probes, in seconds.
    public static final SocketOption<Integer> TCP_KEEPINTERVAL = find("TCP_KEEPINTERVAL", Integer.class);

    /// How many probes have to get lost.
    public static final SocketOption<Integer> TCP_KEEPCOUNT = find("TCP_KEEPCOUNT", Integer.class);

    /// Whether TCP acknowledges at once.
    public static final SocketOption<Boolean> TCP_QUICKACK = find("TCP_QUICKACK", Boolean.class);

    /// Whether no router and no host cuts a packet.
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
            // As below.
        }
        return new Absent<>(name, type);
    }
}
