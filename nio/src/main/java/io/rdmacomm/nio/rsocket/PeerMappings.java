package io.rdmacomm.nio.rsocket;

/// The memory that the peer has mapped for this side to write (`rs_iomap` in rsocket.c). Holds copies, because the
/// peer can change its entries at any time. Not thread-safe.
final class PeerMappings {
    private final ConnectionMemory memory;
    private final long[] offsets;
    private final long[] lengths;
    private final long[] addresses;
    private final int[] keys;

    PeerMappings(ConnectionMemory memory) {
        this.memory = memory;
        int count = memory.mappings();
        offsets = new long[count];
        lengths = new long[count];
        addresses = new long[count];
        keys = new int[count];
    }

    /// Copies an entry that the peer has written. It replaces an older one.
    void take(int index) throws ProtocolException {
        if (index >= lengths.length) {
            throw new ProtocolException("the peer maps memory as number " + index + ", and may use " + lengths.length
                    + " numbers, counted from 0");
        }
        long offset = memory.mappingOffset(index);
        long length = Integer.toUnsignedLong(memory.mappingLength(index));
        if (offset < 0 || offset > Long.MAX_VALUE - length) {
            throw new ProtocolException("the peer maps " + length + " bytes at offset " + offset);
        }
        offsets[index] = offset;
        lengths[index] = length;
        addresses[index] = memory.mappingAddress(index);
        keys[index] = memory.mappingKey(index);
    }

    /// Finds the mapping that contains an offset.
    ///
    /// @return its index, or -1 if there is none
    int find(long offset) {
        for (int i = 0; i < lengths.length; i++) {
            if (offset >= offsets[i] && offset - offsets[i] < lengths[i]) {
                return i;
            }
        }
        return -1;
    }

    /// The number of bytes from an offset to the end of a mapping.
    long left(int index, long offset) {
        return lengths[index] - (offset - offsets[index]);
    }

    /// The address that an offset has for the peer.
    long address(int index, long offset) {
        return addresses[index] + (offset - offsets[index]);
    }

    /// The remote key for the address.
    int key(int index) {
        return keys[index];
    }
}
