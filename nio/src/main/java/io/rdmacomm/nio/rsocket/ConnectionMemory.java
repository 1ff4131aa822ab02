package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;

/// The registered memory of one connection. The peer may write to one region, which no other connection shares:
/// who knows its key can write all of it. The device reads and writes the other region for this process only.
///
/// | region | part | written by |
/// |---|---|---|
/// | shared | the receive ring | the peer |
/// | shared | two targets of 16 bytes: the peer's grants | the peer |
/// | private | the send ring | this process |
/// | private | buffers of 4 bytes for messages that arrive without immediate data | the device |
/// | private | grants of 16 bytes on their way | this process |
final class ConnectionMemory implements AutoCloseable {
    /// The bytes of a target and of a grant (`struct rs_sge`): address, key and length in the order of the host.
    static final int TARGET_BYTES = 16;
    /// How many targets each side has.
    static final int TARGETS = 2;
    /// How many grants may be on their way.
    static final int GRANTS = 4;

    private static final int KEY_AT = 8;
    private static final int LENGTH_AT = 12;
    private static final int ALIGNED = 15;

    private final MemoryRegion shared;
    private final MemoryRegion own;
    private final ByteBuffer arrived;
    private final ByteBuffer departing;
    private final int targetsAt;
    private final int messagesAt;
    private final int grantsAt;

    /// @param receives how many messages may arrive
    ConnectionMemory(ProtectionDomain domain, BufferSizes sizes, int receives) {
        targetsAt = (sizes.receive() + ALIGNED) & ~ALIGNED;
        messagesAt = (sizes.send() + ALIGNED) & ~ALIGNED;
        grantsAt = (messagesAt + receives * Integer.BYTES + ALIGNED) & ~ALIGNED;
        shared = domain.allocate(
                targetsAt + (long) TARGETS * TARGET_BYTES, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        MemoryRegion second = null;
        try {
            second = domain.allocate(grantsAt + (long) GRANTS * TARGET_BYTES, EnumSet.of(AccessFlag.LOCAL_WRITE));
        } finally {
            if (second == null) {
                shared.close();
            }
        }
        own = second;
        arrived = shared.segment().asByteBuffer().order(ByteOrder.nativeOrder());
        departing = own.segment().asByteBuffer().order(ByteOrder.nativeOrder());
    }

    /// The memory that the peer writes; the receive ring is at its beginning.
    MemoryRegion shared() {
        return shared;
    }

    /// The memory that only this process uses; the send ring is at its beginning.
    MemoryRegion own() {
        return own;
    }

    /// The content of [#shared()].
    ByteBuffer arrived() {
        return arrived;
    }

    /// The content of [#own()].
    ByteBuffer departing() {
        return departing;
    }

    /// The address of the targets, for the peer.
    long targets() {
        return shared.address() + targetsAt;
    }

    /// The length that a target has now. The peer may change it at any time.
    int targetLength(int index) {
        return arrived.getInt(targetAt(index) + LENGTH_AT);
    }

    int targetKey(int index) {
        return arrived.getInt(targetAt(index) + KEY_AT);
    }

    long targetAddress(int index) {
        return arrived.getLong(targetAt(index));
    }

    /// Marks a target as taken.
    void clearTarget(int index) {
        arrived.putInt(targetAt(index) + LENGTH_AT, 0);
    }

    private int targetAt(int index) {
        return targetsAt + index * TARGET_BYTES;
    }

    /// The offset in [#own()] of the buffer of a receive.
    int messageAt(int index) {
        return messagesAt + index * Integer.BYTES;
    }

    /// Writes a grant for a part of the receive ring.
    ///
    /// @return its offset in [#own()]
    int putGrant(int index, int offset, int length) {
        int at = grantsAt + index * TARGET_BYTES;
        departing.putLong(at, shared.address() + offset);
        departing.putInt(at + KEY_AT, shared.remoteKey());
        departing.putInt(at + LENGTH_AT, length);
        return at;
    }

    @Override
    public void close() {
        try {
            own.close();
        } finally {
            shared.close();
        }
    }
}
