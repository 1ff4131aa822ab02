package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// The request that opens an MPA connection, or the reply to it (RFC 5044 7.1.1, RFC 6581 4). Immutable.
///
/// ```
/// +0 key, 16 bytes | +16 flags M C R S | +17 revision | +18 length of private data | +20 private data
/// ```
/// Flags: M 0x80 markers, C 0x40 checksum, R 0x20 rejected, S 0x10 enhanced; in a request we use the reserved 0x04.
/// With S, the private data begins with the 4 bytes of [EnhancedSetup]; they are not part of [#privateData()].
public final class MpaFrame {
    /// Bytes before the private data.
    public static final int HEADER_BYTES = 20;
    /// The most private data on the wire, including the enhanced block (RFC 5044 7.1.1).
    public static final int MAX_PRIVATE_DATA = 512;
    /// The highest revision.
    public static final int REVISION_ENHANCED = 2;

    static final int KEY_BYTES = 16;
    static final int FLAGS = 16;
    static final int REVISION = 17;
    static final int PRIVATE_DATA_LENGTH = 18;

    private static final int MARKERS = 0x80;
    private static final int CHECKSUM = 0x40;
    private static final int REJECTED = 0x20;
    private static final int ENHANCED = 0x10;
    private static final int OWN = 0x04;

    /// Request or reply.
    public enum Kind {
        /// From the side that opened the TCP connection.
        REQUEST("MPA ID Req Frame"),
        /// From the side that accepted it.
        REPLY("MPA ID Rep Frame");

        private final String key;

        Kind(String key) {
            this.key = key;
        }

        byte keyByte(int index) {
            return (byte) key.charAt(index);
        }
    }

    private final Kind kind;
    private final int revision;
    private final int flags;
    private final @Nullable EnhancedSetup enhanced;
    private final byte[] privateData;

    private MpaFrame(Kind kind, int revision, int flags, @Nullable EnhancedSetup enhanced, byte[] privateData) {
        this.kind = kind;
        this.revision = revision;
        this.flags = enhanced == null ? flags : flags | ENHANCED;
        this.enhanced = enhanced;
        this.privateData = privateData;
    }

    /// A request, or a reply that accepts.
    ///
    /// @param enhanced IRD, ORD and the first frame, for revision 2; null for a peer of revision 1
    /// @param checksum whether this side wants a checksum
    /// @throws IllegalArgumentException if there is too much private data
    public static MpaFrame of(Kind kind, @Nullable EnhancedSetup enhanced, boolean checksum, byte[] privateData) {
        return build(kind, enhanced, checksum ? CHECKSUM : 0, privateData);
    }

    /// A reply that rejects.
    ///
    /// @param enhanced as in [#of]: its 4 bytes are expected in a rejection too
    /// @param privateData why
    /// @throws IllegalArgumentException if there is too much private data
    public static MpaFrame rejection(@Nullable EnhancedSetup enhanced, byte[] privateData) {
        return build(Kind.REPLY, enhanced, REJECTED, privateData);
    }

    private static MpaFrame build(Kind kind, @Nullable EnhancedSetup enhanced, int flags, byte[] privateData) {
        int most = MAX_PRIVATE_DATA - (enhanced == null ? 0 : EnhancedSetup.BYTES);
        if (privateData.length > most) {
            throw new IllegalArgumentException(
                    privateData.length + " bytes of private data, at most " + most + " fit into an MPA frame");
        }
        return new MpaFrame(kind, enhanced == null ? 1 : REVISION_ENHANCED, flags, enhanced, privateData.clone());
    }

    /// A copy of this request that asks for a handshake: one of our own devices then appends its [PeerHandshake] to
    /// the private data of its reply. Other devices ignore or echo the bit, which means nothing.
    public MpaFrame askingForHandshake() {
        return new MpaFrame(kind, revision, flags | OWN, enhanced, privateData);
    }

    /// Reads a complete frame whose fixed part is valid.
    static MpaFrame decode(Kind kind, ByteBuffer frame) {
        int flags = frame.get(FLAGS);
        int revision = frame.get(REVISION);
        frame.position(HEADER_BYTES);
        EnhancedSetup enhanced = isEnhanced(revision, flags) ? EnhancedSetup.decode(frame) : null;
        byte[] privateData = new byte[frame.remaining()];
        frame.get(privateData);
        return new MpaFrame(kind, revision, flags, enhanced, privateData);
    }

    /// S is a reserved bit before revision 2, and reserved bits are ignored.
    static boolean isEnhanced(int revision, int flags) {
        return revision >= REVISION_ENHANCED && (flags & ENHANCED) != 0;
    }

    /// The frame as bytes.
    public ByteBuffer encode() {
        EnhancedSetup block = enhanced;
        int length = privateData.length + (block == null ? 0 : EnhancedSetup.BYTES);
        ByteBuffer frame = ByteBuffer.allocate(HEADER_BYTES + length);
        frame.put(kind.key.getBytes(StandardCharsets.US_ASCII))
                .put((byte) flags)
                .put((byte) revision)
                .putShort((short) length);
        if (block != null) {
            block.encode(frame);
        }
        return frame.put(privateData).flip();
    }

    /// Request or reply.
    public Kind kind() {
        return kind;
    }

    /// 1 or 2.
    public int revision() {
        return revision;
    }

    /// M: the sender insists on receiving markers.
    public boolean wantsMarkers() {
        return (flags & MARKERS) != 0;
    }

    /// C: the sender wants checksums, in both directions.
    public boolean wantsChecksum() {
        return (flags & CHECKSUM) != 0;
    }

    /// Whether it is a request of one of our own devices that asks for a handshake block.
    public boolean asksForHandshake() {
        return kind == Kind.REQUEST && (flags & OWN) != 0;
    }

    /// R: the connection is rejected. Means nothing in a request.
    public boolean isRejected() {
        return kind == Kind.REPLY && (flags & REJECTED) != 0;
    }

    /// IRD, ORD and the first frame, or null.
    public @Nullable EnhancedSetup enhanced() {
        return enhanced;
    }

    /// IRD: how many READs and atomics at a time the sender answers; [EnhancedSetup#NOT_NEGOTIATED] in revision 1.
    public int inboundReads() {
        return enhanced == null ? EnhancedSetup.NOT_NEGOTIATED : enhanced.inboundReads();
    }

    /// ORD: how many READs and atomics at a time the sender asks for; as [#inboundReads].
    public int outboundReads() {
        return enhanced == null ? EnhancedSetup.NOT_NEGOTIATED : enhanced.outboundReads();
    }

    /// A copy of the program's private data.
    public byte[] privateData() {
        return privateData.clone();
    }
}
