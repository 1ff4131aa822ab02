package io.rdmacomm.nio.rsocket;

import io.rdmacomm.nio.rsocket.MemoryPool.Piece;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// The registered memory of one connection, in one region, and a second one if its receive ring has grown. No other
/// connection shares it: a peer knows the key and can write all of it. So a malicious peer can damage only the data of
/// its own connection.
///
/// | part | written by |
/// |---|---|
/// | the receive ring | the peer |
/// | two targets of 16 bytes: the peer's grants | the peer |
/// | a table of 24 bytes for each mapping of the peer | the peer |
/// | the send ring | this process |
/// | buffers of 4 bytes for messages that arrive without immediate data | the device |
/// | grants of 16 bytes on their way | this process |
final class ConnectionMemory implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(ConnectionMemory.class);
    /// The bytes of a target and of a grant (`struct rs_sge`): address, key and length in the order of the host.
    static final int TARGET_BYTES = 16;
    /// The number of targets of each side.
    static final int TARGETS = 2;
    /// The bytes of a mapping (`struct rs_iomap`): offset, address, key and length in the order of the host.
    static final int MAPPING_BYTES = 24;
    /// The limit of grants in flight.
    static final int GRANTS = 4;

    private static final int KEY_AT = 8;
    private static final int LENGTH_AT = 12;
    private static final int ALIGNED = 15;
    private static final int MAPPED_ADDRESS_AT = 8;
    private static final int MAPPED_KEY_AT = 16;
    private static final int MAPPED_LENGTH_AT = 20;

    private final MemoryPool pool;
    private final ProtectionDomain domain;
    private final Piece piece;
    private final MemoryRegion region;
    private final ByteBuffer bytes;
    private final int targetsAt;
    private final int mappingsAt;
    private final int mappings;
    private final int sendAt;
    private final int messagesAt;
    private final int grantsAt;
    private @Nullable Piece largerRing;

    /// @param pool the memory of the device
    /// @param receives the number of posted receives
    ConnectionMemory(MemoryPool pool, ProtectionDomain domain, BufferSizes sizes, int receives) {
        this.pool = pool;
        this.domain = domain;
        targetsAt = aligned(sizes.receive());
        // The peer expects the table directly after the targets.
        mappingsAt = targetsAt + TARGETS * TARGET_BYTES;
        mappings = sizes.mappings();
        sendAt = aligned(mappingsAt + mappings * MAPPING_BYTES);
        messagesAt = aligned(sendAt + sizes.send());
        grantsAt = aligned(messagesAt + receives * Integer.BYTES);
        piece = pool.allocate(domain, grantsAt + (long) GRANTS * TARGET_BYTES);
        region = piece.region();
        bytes = region.segment().asByteBuffer().order(ByteOrder.nativeOrder());
    }

    /// Allocates a larger receive ring. The one at the beginning of [#region()] remains.
    ///
    /// @return the larger ring; null if there is no memory for it
    @Nullable
    MemoryRegion enlargeRing(int size) {
        try {
            Piece larger = pool.allocateSpare(domain, size);
            largerRing = larger;
            return larger == null ? null : larger.region();
        } catch (VerbException | IllegalStateException | OutOfMemoryError e) {
            // The connection works without it, as far as the device is still open.
            LOGGER.log(Level.DEBUG, () -> "a receive ring does not grow to " + size + " bytes", e);
            return null;
        }
    }

    private static int aligned(int offset) {
        return Math.addExact(offset, ALIGNED) & ~ALIGNED;
    }

    /// The region; the receive ring is at its beginning.
    MemoryRegion region() {
        return region;
    }

    /// The content of [#region()].
    ByteBuffer bytes() {
        return bytes;
    }

    /// The offset of the send ring.
    int sendAt() {
        return sendAt;
    }

    /// The content of the send ring.
    ByteBuffer sendRing() {
        return bytes.slice(sendAt, messagesAt - sendAt);
    }

    /// The address of the targets, for the peer.
    long targets() {
        return region.address() + targetsAt;
    }

    /// The current length of a target. The peer may change it at any time.
    int targetLength(int index) {
        return bytes.getInt(targetAt(index) + LENGTH_AT);
    }

    int targetKey(int index) {
        return bytes.getInt(targetAt(index) + KEY_AT);
    }

    long targetAddress(int index) {
        return bytes.getLong(targetAt(index));
    }

    /// Marks a target as taken.
    void clearTarget(int index) {
        bytes.putInt(targetAt(index) + LENGTH_AT, 0);
    }

    private int targetAt(int index) {
        return targetsAt + index * TARGET_BYTES;
    }

    /// The number of mappings that the peer may have.
    int mappings() {
        return mappings;
    }

    /// The current offset of a mapping of the peer, which may change the mapping at any time.
    long mappingOffset(int index) {
        return bytes.getLong(mappingAt(index));
    }

    long mappingAddress(int index) {
        return bytes.getLong(mappingAt(index) + MAPPED_ADDRESS_AT);
    }

    int mappingKey(int index) {
        return bytes.getInt(mappingAt(index) + MAPPED_KEY_AT);
    }

    /// The length as an unsigned number.
    int mappingLength(int index) {
        return bytes.getInt(mappingAt(index) + MAPPED_LENGTH_AT);
    }

    private int mappingAt(int index) {
        return mappingsAt + index * MAPPING_BYTES;
    }

    /// The offset in [#region()] of the buffer of a receive.
    int messageAt(int index) {
        return messagesAt + index * Integer.BYTES;
    }

    /// Writes a grant for a part of a receive ring.
    ///
    /// @return its offset in [#region()]
    int putGrant(int index, MemoryRegion ring, int offset, int length) {
        int at = grantsAt + index * TARGET_BYTES;
        bytes.putLong(at, ring.address() + offset);
        bytes.putInt(at + KEY_AT, ring.remoteKey());
        bytes.putInt(at + LENGTH_AT, length);
        return at;
    }

    @Override
    public void close() {
        Piece larger = largerRing;
        try (piece) {
            if (larger != null) {
                larger.close();
            }
        }
    }
}
