package io.rdmacomm.cli.command;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/// Addresses for people, like `10.9.0.1:7174` and `[::1]:7174`.
public final class AddressText {
    private AddressText() {}

    /// The numeric address.
    public static String of(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        String text = host == null ? address.getHostString() : host.getHostAddress();
        return (text.contains(":") ? "[" + text + "]" : text) + ":" + address.getPort();
    }
}
