package io.rdmacomm.soft.iwarp;

import io.rdmacomm.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// The block that two software devices exchange at the end of the private data, after the program's own: who they
/// are, which queue pairs to connect, and what they support beyond RFC 5040. Other iWARP devices have no such
/// block; [#kind] detects a device that echoes what it received. The reserved flags of a request cannot carry this,
/// as Linux siw echoes them.
/// ```
///  +0 features           | +4 longest segment
///  +8 nonce, 8 bytes     | +16 host, 16 bytes
/// +32 source: GID, 16 bytes | +48 LID, 2 bytes | +50 kind | +51 verdict | +52 number
/// +56 first PSN         | +60 expected PSN
/// +64 destination: GID, 16 bytes | +80 LID, 2 bytes | +82 zero | +84 number
/// +88 version, 2 bytes  | +90 length of all, 2 bytes | +92 magic, 8 bytes
/// ```
/// The end is fixed, so the block is found from the end of the data. A later version may add fields only before the
/// first one: the offsets from the end stay the same.
///
/// @param kind request or reply
/// @param verdict the responder's decision about the request; [Verdict#ACCEPTED] in a request
/// @param features the `FEATURE_` bits of the sender
/// @param longestSegment the longest DDP segment that the sender wants to receive, in bytes
/// @param nonce chosen at random by the initiator and repeated in the reply
/// @param host identifies the sender's context in shared memory, where its LID is; all zero: none
/// @param source the sender's queue pair
/// @param firstPsn the packet sequence number that the sender begins with
/// @param expectedPsn the packet sequence number that the sender expects first
/// @param destination the receiver's queue pair
public record PeerHandshake(
        MpaFrame.Kind kind,
        Verdict verdict,
        int features,
        int longestSegment,
        long nonce,
        UUID host,
        QueuePairAddress source,
        int firstPsn,
        int expectedPsn,
        QueuePairAddress destination) {
    /// Supports immediate data: RFC 7306, and our own Send with Immediate.
    public static final int FEATURE_IMMEDIATE = 1;
    /// Supports atomic operations: RFC 7306.
    public static final int FEATURE_ATOMIC = 2;
    /// Acknowledges: completions mean "done at the peer", and a receiver may not be ready yet.
    public static final int FEATURE_ACKNOWLEDGE = 4;
    /// Switches to shared memory if both sides reach the same one.
    public static final int FEATURE_SHARED_MEMORY = 8;

    /// Size of the block.
    public static final int BYTES = 100;
    /// No shared memory.
    public static final UUID NO_HOST = new UUID(0, 0);

    private static final int VERSION = 1;
    private static final int KIND = 50;
    private static final int VERDICT = 51;
    private static final int TAIL_VERSION = 88;
    private static final int TAIL_LENGTH = 90;
    private static final int TAIL_MAGIC = 92;
    private static final long MAGIC = 0x7264_6d61_636f_6d6dL; // "rdmacomm"
    private static final int KIND_REQUEST = 1;
    private static final int KIND_REPLY = 2;

    /// The responder's decision about a request.
    public enum Verdict {
        /// The connection is established.
        ACCEPTED(0),
        /// No queue pair with this number is waiting for this peer and its numbers yet.
        NOT_THERE(1),
        /// Both sides call each other at the same time, and the other call wins.
        BUSY(2),
        /// Both sides reach the same shared memory: connect there.
        USE_SHARED_MEMORY(3),
        /// A reason unknown to this version.
        UNKNOWN(255);

        private static final Verdict[] VALUES = values();

        private final int code;

        Verdict(int code) {
            this.code = code;
        }

        static Verdict of(int code) {
            for (Verdict value : VALUES) {
                if (value.code == code) {
                    return value;
                }
            }
            return UNKNOWN;
        }
    }

    /// The responder's block for this request.
    public PeerHandshake reply(Verdict newVerdict, int ownFeatures, int ownLongestSegment, UUID ownHost) {
        return new PeerHandshake(
                MpaFrame.Kind.REPLY,
                newVerdict,
                ownFeatures,
                ownLongestSegment,
                nonce,
                ownHost,
                /* source= */ destination,
                /* firstPsn= */ expectedPsn,
                /* expectedPsn= */ firstPsn,
                /* destination= */ source);
    }

    /// The private data of `own` with this block behind it.
    public byte[] appendTo(byte[] own) {
        byte[] all = Arrays.copyOf(own, own.length + BYTES);
        ByteBuffer block = ByteBuffer.wrap(all, own.length, BYTES).slice();
        block.putInt(features).putInt(longestSegment);
        block.putLong(nonce);
        block.putLong(host.getMostSignificantBits()).putLong(host.getLeastSignificantBits());
        block.putLong(source.gid().high()).putLong(source.gid().low());
        block.putShort((short) source.lid());
        block.put((byte) (kind == MpaFrame.Kind.REQUEST ? KIND_REQUEST : KIND_REPLY));
        block.put((byte) verdict.code);
        block.putInt(source.number()).putInt(firstPsn).putInt(expectedPsn);
        block.putLong(destination.gid().high()).putLong(destination.gid().low());
        block.putShort((short) destination.lid()).putShort((short) 0).putInt(destination.number());
        block.putShort((short) VERSION).putShort((short) BYTES).putLong(MAGIC);
        return all;
    }

    /// The block at the end of this private data, or null if there is none.
    public static @Nullable PeerHandshake find(byte[] privateData) {
        if (bytesAtEnd(privateData) == 0) {
            return null;
        }
        ByteBuffer block =
                ByteBuffer.wrap(privateData, privateData.length - BYTES, BYTES).slice();
        MpaFrame.Kind kind = switch (block.get(KIND)) {
            case KIND_REQUEST -> MpaFrame.Kind.REQUEST;
            case KIND_REPLY -> MpaFrame.Kind.REPLY;
            default -> null;
        };
        return kind == null ? null : decode(kind, block);
    }

    private static PeerHandshake decode(MpaFrame.Kind kind, ByteBuffer block) {
        Verdict verdict = Verdict.of(Byte.toUnsignedInt(block.get(VERDICT)));
        int features = block.getInt();
        int longestSegment = block.getInt();
        long nonce = block.getLong();
        UUID host = new UUID(block.getLong(), block.getLong());
        QueuePairAddress source = address(block);
        int firstPsn = block.getInt();
        int expectedPsn = block.getInt();
        return new PeerHandshake(
                kind, verdict, features, longestSegment, nonce, host, source, firstPsn, expectedPsn, address(block));
    }

    private static QueuePairAddress address(ByteBuffer block) {
        Gid gid = new Gid(block.getLong(), block.getLong());
        int lid = Short.toUnsignedInt(block.getShort());
        block.getShort(); // Kind and verdict of the source, zero of the destination.
        return new QueuePairAddress(gid, lid, block.getInt());
    }

    /// The private data of the peer's program, without the block.
    public static byte[] withoutBlock(byte[] privateData) {
        return Arrays.copyOf(privateData, privateData.length - bytesAtEnd(privateData));
    }

    /// The length of the block; 0 if there is none or its length is invalid.
    private static int bytesAtEnd(byte[] privateData) {
        if (privateData.length < BYTES) {
            return 0;
        }
        ByteBuffer block =
                ByteBuffer.wrap(privateData, privateData.length - BYTES, BYTES).slice();
        int length = Short.toUnsignedInt(block.getShort(TAIL_LENGTH));
        boolean valid = block.getLong(TAIL_MAGIC) == MAGIC
                && block.getShort(TAIL_VERSION) >= VERSION
                && length >= BYTES
                && length <= privateData.length;
        return valid ? length : 0;
    }

    /// Whether this is the reply of one of our own devices to `request`, and not an echo of it.
    public boolean answers(PeerHandshake request) {
        return kind == MpaFrame.Kind.REPLY && nonce == request.nonce;
    }

    /// Whether the sender offers the shared memory that it can reach.
    public boolean namesHost() {
        return !host.equals(NO_HOST);
    }

    /// Whether the sender has a feature.
    public boolean has(int feature) {
        return (features & feature) != 0;
    }
}
