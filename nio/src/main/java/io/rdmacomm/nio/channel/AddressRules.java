package io.rdmacomm.nio.channel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Which addresses rsockets serve. The others stay with TCP. Immutable.
///
/// A rule is `NETWORK`, `NETWORK:PORT` or `:PORT`. `NETWORK` is an address with an optional prefix length, an
/// IPv6 address in brackets, `*`, or `device` for what is reached through the RDMA device. A rule that begins
/// with `!` excludes; one that begins with `?` tries RDMA, and TCP if that fails. The first rule that matches
/// decides; without one, it is TCP.
public final class AddressRules {
    /// The rules of a program that has none.
    public static final String DEFAULT = "device";

    private final List<Rule> rules;

    /// The transport for an address.
    enum Choice {
        TCP,
        RDMA,
        /// RDMA, and TCP if that fails.
        EITHER
    }

    /// @param network null for any, or for what the device reaches
    private record Rule(
            Choice choice, boolean device, @Nullable InetAddress network, int prefix, int port) {
        boolean isForPort(InetSocketAddress address) {
            return port == 0 || port == address.getPort();
        }

        boolean matches(InetSocketAddress address, Predicate<InetAddress> isOnDevice) {
            return isForPort(address)
                    && (device ? isOnDevice.test(address.getAddress()) : contains(address.getAddress()));
        }

        private boolean contains(InetAddress address) {
            if (network == null) {
                return true;
            }
            byte[] bytes = address.getAddress();
            byte[] wanted = network.getAddress();
            if (network.isAnyLocalAddress() && prefix == wanted.length * Byte.SIZE) {
                // A server at the wildcard address of IPv6 serves both families, and the JDK chooses one.
                return address.isAnyLocalAddress();
            }
            boolean same = bytes.length == wanted.length;
            for (int bit = 0; bit < prefix && same; bit++) {
                int mask = 0x80 >> (bit & 7);
                same = ((bytes[bit >> 3] ^ wanted[bit >> 3]) & mask) == 0;
            }
            return same;
        }
    }

    private AddressRules(List<Rule> rules) {
        this.rules = rules;
    }

    /// Reads rules that are separated by commas.
    ///
    /// @throws IllegalArgumentException if one is wrong; the message names it
    public static AddressRules parse(String text) {
        List<Rule> rules = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            String rule = part.trim();
            if (!rule.isEmpty()) {
                rules.add(rule(rule));
            }
        }
        return new AddressRules(List.copyOf(rules));
    }

    /// Whether no rule allows RDMA.
    public boolean isForNothing() {
        return rules.stream().allMatch(rule -> rule.choice() == Choice.TCP);
    }

    private static Rule rule(String text) {
        Choice choice = switch (text.charAt(0)) {
            case '!' -> Choice.TCP;
            case '?' -> Choice.EITHER;
            default -> Choice.RDMA;
        };
        String rest = choice == Choice.RDMA ? text : text.substring(1);
        int port = 0;
        int colon = rest.lastIndexOf(':');
        boolean bare = colon >= 0 && rest.indexOf(':') != colon && !rest.startsWith("[");
        if (colon > rest.lastIndexOf(']') && !bare) {
            port = number(text, rest.substring(colon + 1), 1, 65_535);
            rest = rest.substring(0, colon);
        }
        if (rest.isEmpty() || "*".equals(rest)) {
            return new Rule(choice, false, null, 0, port);
        }
        if (DEFAULT.equals(rest)) {
            return new Rule(choice, true, null, 0, port);
        }
        int slash = rest.indexOf('/');
        InetAddress network = address(text, slash < 0 ? rest : rest.substring(0, slash));
        int bits = network.getAddress().length * Byte.SIZE;
        int prefix = slash < 0 ? bits : number(text, rest.substring(slash + 1), 0, bits);
        return new Rule(choice, false, network, prefix, port);
    }

    private static InetAddress address(String rule, String text) {
        String bare = text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
        try {
            return InetAddress.ofLiteral(bare);
        } catch (IllegalArgumentException e) {
            throw wrong(rule, "'" + text + "' is no address");
        }
    }

    private static int number(String rule, String text, int least, int most) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw wrong(rule, "'" + text + "' is not a number from " + least + " to " + most);
    }

    private static IllegalArgumentException wrong(String rule, String detail) {
        return new IllegalArgumentException("rule '" + rule + "': " + detail
                + "; a rule is for example device, 10.1.0.0/16, 10.1.2.3:9092, :9092 or !*:22");
    }

    /// The choice for an address.
    ///
    /// @param isOnDevice whether an address is reached through the RDMA device; asked only if a rule depends on
    ///        it
    Choice choice(InetSocketAddress address, Predicate<InetAddress> isOnDevice) {
        for (Rule rule : rules) {
            if (rule.matches(address, isOnDevice)) {
                return rule.choice();
            }
        }
        return Choice.TCP;
    }

    /// Whether a server would listen with TCP at the wildcard address, which no rule names, while clients may use
    /// RDMA for its addresses.
    boolean forgetsWildcard(InetSocketAddress address, Predicate<InetAddress> isOnDevice) {
        return address.getAddress().isAnyLocalAddress()
                && rules.stream().noneMatch(rule -> rule.matches(address, isOnDevice))
                && rules.stream().anyMatch(rule -> rule.choice() != Choice.TCP && rule.isForPort(address));
    }
}
