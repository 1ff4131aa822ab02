package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.setup.SetupException.Reason;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// The first message of each side of a handshake: the supported versions of the protocol, and the features.
/// Both sides then use the highest common version and the common features.
///
/// In network order, the payload of GREETING:
///
/// ```
///  0       2       4       6       8               16
/// +-------+-------+-------+-------+---------------+------------+
/// |proto- |lowest |highest|   0   | features      | ignored ...|
/// |col    |version|version|       |               |            |
/// +-------+-------+-------+-------+---------------+------------+
/// ```
///
/// These fields are the same in all versions. In an exchange, the length of the protocol's name in two bytes and
/// the name in ASCII follow.
///
/// @param protocol the protocol of the versions
/// @param lowest the lowest supported version, from 1
/// @param highest the highest supported version
/// @param features a bit for each feature; those unknown to the peer are not used
/// @param name the name of the protocol of an exchange; empty for other protocols
public record Greeting(Protocol protocol, int lowest, int highest, long features, String name) {
    /// The longest name of a protocol.
    public static final int MAX_NAME = 64;

    private static final int BYTES = 16;
    private static final int MAX_VERSION = 0xffff;

    /// Checks the ranges.
    ///
    /// @throws IllegalArgumentException if one is wrong
    public Greeting {
        boolean named = protocol == Protocol.EXCHANGE;
        Bounds.range("length of the protocol's name", name.length(), named ? 1 : 0, named ? MAX_NAME : 0);
        if (!name.chars().allMatch(Greeting::isOfName)) {
            throw new IllegalArgumentException(
                    "the protocol's name has other characters than letters, digits, '.', '-' and '_' of ASCII");
        }
        Bounds.range("lowest version", lowest, 1, MAX_VERSION);
        Bounds.range("highest version", highest, lowest, MAX_VERSION);
    }

    /// The greeting of a protocol that is not an exchange.
    public Greeting(Protocol protocol, int lowest, int highest, long features) {
        this(protocol, lowest, highest, features, "");
    }

    private static boolean isOfName(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || ".-_".indexOf(c) >= 0;
    }

    /// The payload of GREETING.
    public ByteBuffer encode() {
        boolean named = protocol == Protocol.EXCHANGE;
        ByteBuffer fields = ByteBuffer.allocate(BYTES + (named ? Short.BYTES + name.length() : 0))
                .putShort((short) protocol.code())
                .putShort((short) lowest)
                .putShort((short) highest)
                .putShort((short) 0)
                .putLong(features);
        if (named) {
            fields.putShort((short) name.length()).put(name.getBytes(StandardCharsets.US_ASCII));
        }
        return fields.flip();
    }

    /// Decodes a greeting at the position of `from`, which does not change.
    ///
    /// @throws SetupException PROTOCOL_VIOLATED if it is invalid
    public static Greeting decode(ByteBuffer from, String peer) {
        try {
            Bounds.range("its length", from.remaining(), BYTES, TcpConnector.MAX_PAYLOAD);
            ByteBuffer fields = from.duplicate();
            Protocol protocol = Protocol.of(fields.getShort() & 0xffff);
            int lowest = fields.getShort() & 0xffff;
            int highest = fields.getShort() & 0xffff;
            fields.getShort(); // Zero in version 1.
            long features = fields.getLong();
            String name = protocol == Protocol.EXCHANGE ? name(fields) : "";
            return new Greeting(protocol, lowest, highest, features, name);
        } catch (IllegalArgumentException e) {
            throw new SetupException(
                    Reason.PROTOCOL_VIOLATED, peer + " sent an invalid greeting: " + e.getMessage(), e);
        }
    }

    private static String name(ByteBuffer fields) {
        Bounds.range("bytes for the protocol's name", fields.remaining(), Short.BYTES, TcpConnector.MAX_PAYLOAD);
        int length = fields.getShort() & 0xffff;
        Bounds.range("length of the protocol's name", length, 1, Math.min(MAX_NAME, fields.remaining()));
        byte[] name = new byte[length];
        fields.get(name);
        // One character for each byte, so that the constructor sees all that are wrong.
        return new String(name, StandardCharsets.ISO_8859_1);
    }

    /// Chooses the version and the features to use with a peer. The peer comes to the same result.
    ///
    /// @param peer the peer's greeting
    /// @param peerName the peer's name in messages
    /// @throws SetupException PROTOCOL_VIOLATED if the peer speaks another protocol; OTHER_VERSION if there
    ///         is no common version
    public AgreedVersion agree(Greeting peer, String peerName) {
        if (peer.protocol != protocol || !peer.name.equals(name)) {
            throw new SetupException(
                    Reason.PROTOCOL_VIOLATED,
                    peerName + " speaks the " + peer.words() + " protocol, this side the " + words()
                            + " protocol; check host and port");
        }
        int version = Math.min(highest, peer.highest);
        if (version < Math.max(lowest, peer.lowest)) {
            throw new SetupException(
                    Reason.OTHER_VERSION,
                    peerName + " speaks " + peer.versions() + " of the " + words() + " protocol, this side "
                            + versions() + "; update " + (name.isEmpty() ? "rdmacomm" : "the program") + " on "
                            + (highest < peer.lowest ? "this side" : peerName));
        }
        return new AgreedVersion(version, features & peer.features);
    }

    private String words() {
        return name.isEmpty() ? protocol.toString() : name;
    }

    private String versions() {
        return lowest == highest ? "version " + lowest : "versions " + lowest + " to " + highest;
    }
}
