package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.setup.SetUpException.Reason;
import java.nio.ByteBuffer;

/// The first message of each side of a hand-shake: the versions of the protocol that it speaks, and its features.
/// Both sides then use the highest version and the features that they have in common.
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
/// These fields are the same in all versions. A file copy sends them as numbers of its own first message.
///
/// @param protocol of which it speaks these versions
/// @param lowest the lowest version that it speaks, from 1
/// @param highest the highest version that it speaks
/// @param features a bit for each feature; those that the peer does not know are not used
public record Greeting(Protocol protocol, int lowest, int highest, long features) {
    private static final int BYTES = 16;
    private static final int MAX_VERSION = 0xffff;

    /// Checks the ranges.
    public Greeting {
        Bounds.range("lowest version", lowest, 1, MAX_VERSION);
        Bounds.range("highest version", highest, lowest, MAX_VERSION);
    }

    /// The greeting in numbers of a peer.
    ///
    /// @throws IllegalArgumentException if they are out of range
    public static Greeting of(Protocol protocol, long lowest, long highest, long features) {
        return new Greeting(
                protocol,
                (int) Bounds.range("lowest version", lowest, 1, MAX_VERSION),
                (int) Bounds.range("highest version", highest, 1, MAX_VERSION),
                features);
    }

    /// The payload of GREETING.
    public ByteBuffer encode() {
        return ByteBuffer.allocate(BYTES)
                .putShort((short) protocol.code())
                .putShort((short) lowest)
                .putShort((short) highest)
                .putShort((short) 0)
                .putLong(features)
                .flip();
    }

    /// Reads what [#encode()] wrote, at the beginning of `from`, which keeps its position.
    ///
    /// @throws SetUpException PROTOCOL_VIOLATED, if it is something else
    public static Greeting decode(ByteBuffer from, String peer) {
        try {
            Bounds.range("its length", from.remaining(), BYTES, TcpConnector.MAX_PAYLOAD);
            ByteBuffer fields = from.duplicate();
            Protocol protocol = Protocol.of(fields.getShort() & 0xffff);
            int lowest = fields.getShort() & 0xffff;
            int highest = fields.getShort() & 0xffff;
            fields.getShort(); // Zero in version 1.
            return new Greeting(protocol, lowest, highest, fields.getLong());
        } catch (IllegalArgumentException e) {
            throw new SetUpException(
                    Reason.PROTOCOL_VIOLATED, peer + " sent an invalid greeting: " + e.getMessage(), e);
        }
    }

    /// Chooses the version and the features to use with a peer. The peer comes to the same result.
    ///
    /// @param peer the peer's greeting
    /// @param name what to call the peer
    /// @throws SetUpException PROTOCOL_VIOLATED if the peer speaks another protocol; OTHER_VERSION if there is no
    ///         version that both speak
    public Terms agree(Greeting peer, String name) {
        if (peer.protocol != protocol) {
            throw new SetUpException(
                    Reason.PROTOCOL_VIOLATED,
                    name + " speaks the " + peer.protocol + " protocol, this side the " + protocol
                            + " protocol; check host and port");
        }
        return common("this side", peer, name).terms();
    }

    /// The versions and features that this and another one have in common.
    ///
    /// @param name whose this is
    /// @param otherName whose the other one is
    /// @throws SetUpException OTHER_VERSION if there is no such version; the message says who has to be updated
    public Greeting common(String name, Greeting other, String otherName) {
        int from = Math.max(lowest, other.lowest);
        int to = Math.min(highest, other.highest);
        if (from > to) {
            throw new SetUpException(
                    Reason.OTHER_VERSION,
                    otherName + " speaks " + other.versions() + " of the " + protocol + " protocol, " + name + " "
                            + versions() + "; update rdmacomm on " + (highest < other.lowest ? name : otherName));
        }
        return new Greeting(protocol, from, to, features & other.features);
    }

    /// The highest of these versions, and these features.
    public Terms terms() {
        return new Terms(highest, features);
    }

    private String versions() {
        return lowest == highest ? "version " + lowest : "versions " + lowest + " to " + highest;
    }
}
