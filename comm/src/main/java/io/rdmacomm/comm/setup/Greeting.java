package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.setup.SetupException.Reason;
import java.nio.ByteBuffer;

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
/// These fields are the same in all versions. A file copy sends them as numbers in its first message.
///
/// @param protocol the protocol of the versions
/// @param lowest the lowest supported version, from 1
/// @param highest the highest supported version
/// @param features a bit for each feature; those unknown to the peer are not used
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
            return new Greeting(protocol, lowest, highest, fields.getLong());
        } catch (IllegalArgumentException e) {
            throw new SetupException(
                    Reason.PROTOCOL_VIOLATED, peer + " sent an invalid greeting: " + e.getMessage(), e);
        }
    }

    /// Chooses the version and the features to use with a peer. The peer comes to the same result.
    ///
    /// @param peer the peer's greeting
    /// @param name the peer's name in messages
    /// @throws SetupException PROTOCOL_VIOLATED if the peer speaks another protocol; OTHER_VERSION if there
    ///         is no common version
    public Terms agree(Greeting peer, String name) {
        if (peer.protocol != protocol) {
            throw new SetupException(
                    Reason.PROTOCOL_VIOLATED,
                    name + " speaks the " + peer.protocol + " protocol, this side the " + protocol
                            + " protocol; check host and port");
        }
        return common("this side", peer, name).terms();
    }

    /// The versions and features that this and another greeting have in common.
    ///
    /// @param name the owner of this greeting, in messages
    /// @param otherName the owner of the other one, in messages
    /// @throws SetupException OTHER_VERSION if there is none; the message says which side to update
    public Greeting common(String name, Greeting other, String otherName) {
        int from = Math.max(lowest, other.lowest);
        int to = Math.min(highest, other.highest);
        if (from > to) {
            throw new SetupException(
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
