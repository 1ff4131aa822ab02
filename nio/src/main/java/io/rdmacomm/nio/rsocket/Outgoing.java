package io.rdmacomm.nio.rsocket;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The stream to the peer: a ring of bytes in flight, and the peer's grants: addresses to write to, and a number of
/// messages. Not thread-safe.
final class Outgoing {
    /// With less room in the send ring, nothing is written: short messages cost as much as long ones (`RS_SNDLOWAT`
    /// in rsocket.c).
    static final int LEAST_ROOM = 2048;
    /// The longest message. The peer can read one while the next is copied.
    static final int LONGEST = 1 << 16;

    private static final int SEQUENCE_MASK = 0xffff;
    private static final int MOST_UNUSED = 8;

    private final Wire wire;
    private final ConnectionMemory memory;
    private final ByteBuffer ring;
    private final int capacity;
    private final ByteBuffer[] single = new ByteBuffer[1];
    private final ByteBuffer entry =
            ByteBuffer.allocate(ConnectionMemory.MAPPING_BYTES).order(ByteOrder.nativeOrder());
    private final long[] addresses = new long[ConnectionMemory.TARGETS];
    private final int[] keys = new int[ConnectionMemory.TARGETS];
    private final int[] lengths = new int[ConnectionMemory.TARGETS];
    private int current;
    /// The position in the ring for the next bytes, the free bytes, and the free requests.
    private int position;
    private int room;
    private int requests;
    /// The bytes and requests of messages since the last one that was signaled.
    private int silentBytes;
    private int silentRequests;
    private final int mostSilentRequests;
    /// Whether the device has failed a request, and so all later ones.
    private boolean failed;
    /// The number of the next message, the first number that is not allowed, and the greatest distance between
    /// them. Numbers have 16 bits.
    private int sequence;
    private int limit;
    private int credits;
    /// Credits kept in reserve where a message that finds no receive would end the connection.
    private int unused;

    /// @param requests the limit of requests in flight
    Outgoing(Wire wire, ConnectionMemory memory, int capacity, int requests) {
        this.wire = wire;
        this.memory = memory;
        this.ring = memory.sendRing();
        this.capacity = capacity;
        this.room = capacity;
        this.requests = requests;
        this.mostSilentRequests = requests / 2;
    }

    /// Starts with the peer's first grants.
    ///
    /// @param patient whether the device retries a message that finds no receive; iWARP ends the connection instead
    void begin(ConnectionData peer, boolean patient) {
        credits = peer.credits();
        limit = credits;
        unused = patient ? 0 : Math.min(MOST_UNUSED, credits / 2);
        addresses[0] = peer.data();
        keys[0] = peer.dataKey();
        lengths[0] = peer.dataLength();
    }

    /// Whether bytes can be written now.
    boolean canSend() {
        return canMap() && lengths[current] > 0;
    }

    /// Whether a mapping can be announced to the peer now.
    boolean canMap() {
        return hasRoom(wire.requests()) && allowed() > unused;
    }

    /// Whether bytes can be placed in memory that the peer has mapped, which needs no message.
    boolean canPlace() {
        return hasRoom(1);
    }

    private boolean hasRoom(int count) {
        return requests >= count && room >= Math.min(LEAST_ROOM, capacity);
    }

    /// Whether the peer has no room for bytes.
    boolean isPeerFull() {
        return allowed() <= unused || lengths[current] == 0;
    }

    private int allowed() {
        return (limit - sequence) & SEQUENCE_MASK;
    }

    /// Writes as much as possible of a buffer.
    ///
    /// @return the number of bytes, or -1 if the device no longer accepts them
    long write(ByteBuffer source) {
        single[0] = source;
        try {
            return write(single, 0, 1);
        } finally {
            single[0] = ring;
        }
    }

    /// Writes as much as possible of some buffers, one after the other.
    ///
    /// @return the number of bytes, or -1 if the device no longer accepts them
    long write(ByteBuffer[] sources, int from, int count) {
        long left = 0;
        for (int i = from; i < from + count; i++) {
            left += sources[i].remaining();
        }
        long written = 0;
        int index = from;
        while (left > 0 && canSend()) {
            int bytes = (int) Math.min(Math.min(left, LONGEST), Math.min(room, lengths[current]));
            int start = position;
            index = copy(sources, index, bytes);
            if (!send(start, bytes)) {
                return -1;
            }
            written += bytes;
            left -= bytes;
        }
        return written;
    }

    /// Copies into the ring.
    ///
    /// @return the index of the buffer from which the last bytes came
    private int copy(ByteBuffer[] sources, int first, int bytes) {
        int index = first;
        int left = bytes;
        while (left > 0) {
            ByteBuffer source = sources[index];
            int part = Math.min(Math.min(left, source.remaining()), capacity - position);
            if (part == 0) {
                index++;
                continue;
            }
            ring.put(position, source, source.position(), part);
            source.position(source.position() + part);
            position = position + part == capacity ? 0 : position + part;
            left -= part;
        }
        return index;
    }

    /// A message never spans two targets, and a target is used up before the next one.
    private boolean send(int start, int bytes) {
        long address = addresses[current];
        int key = keys[current];
        // Before the message: the peer may grant the target again as soon as it has the last byte.
        addresses[current] += bytes;
        lengths[current] -= bytes;
        if (lengths[current] == 0) {
            current ^= 1;
        }
        return message(RsMessage.data(bytes), start, bytes, address, key);
    }

    private boolean message(int message, int start, int bytes, long address, int key) {
        sequence++;
        room -= bytes;
        requests -= wire.requests();
        silentBytes += bytes;
        silentRequests += wire.requests();
        long id = 0;
        if (silentBytes > capacity / 2 || silentRequests > mostSilentRequests) {
            id = Wire.sent(silentBytes, silentRequests);
            silentBytes = 0;
            silentRequests = 0;
        }
        int first = Math.min(bytes, capacity - start);
        return wire.data(message, id, start, first, bytes - first, address, key);
    }

    /// Tells the peer of a mapping; see [#canMap()].
    ///
    /// @param address the address of the entry in the peer's table
    /// @return whether the device accepted it
    boolean map(Mapping mapping, long address, int key) {
        entry.clear()
                .putLong(mapping.offset())
                .putLong(mapping.region().address())
                .putInt(mapping.region().remoteKey())
                .putInt((int) mapping.region().length())
                .flip();
        int start = position;
        single[0] = entry;
        int _ = copy(single, 0, ConnectionMemory.MAPPING_BYTES);
        single[0] = ring;
        return message(RsMessage.mapping(mapping.index()), start, ConnectionMemory.MAPPING_BYTES, address, key);
    }

    /// Places as much as possible of a buffer, at most `most` bytes, in memory that the peer has mapped; see
    /// [#canPlace()].
    ///
    /// @return the number of bytes, or -1 if the device no longer accepts them
    int place(ByteBuffer source, long most, long address, int key) {
        int bytes = (int) Math.min(Math.min(source.remaining(), most), Math.min(room, LONGEST));
        int start = position;
        single[0] = source;
        int _ = copy(single, 0, bytes);
        single[0] = ring;
        room -= bytes;
        requests--;
        int first = Math.min(bytes, capacity - start);
        return wire.place(start, first, bytes - first, address, key) ? bytes : -1;
    }

    /// Frees the room of bytes that were placed.
    void placed(int bytes) {
        room += bytes;
        requests++;
    }

    /// Frees the room of messages.
    ///
    /// @param id of the last of them; see [Wire#sent]
    /// @param success whether they were sent
    void sent(long id, boolean success) {
        room += Wire.bytes(id);
        requests += Wire.requests(id);
        failed |= !success;
    }

    /// Whether all bytes were sent, if a request that was posted later has completed.
    boolean isSent() {
        return failed || room + silentBytes == capacity;
    }

    /// The peer allows more messages, and may have granted targets.
    void granted(int newLimit) throws ProtocolException {
        limit = newLimit;
        if (allowed() > credits) {
            throw new ProtocolException("the peer allows message " + newLimit + " after message "
                    + (sequence & SEQUENCE_MASK) + ", more than the " + credits + " that it has receives for");
        }
        for (int i = 0; i < lengths.length; i++) {
            take(i);
        }
    }

    /// Copies a target that the peer has written. Only the copy is used: the peer can change the target at any
    /// time.
    private void take(int index) throws ProtocolException {
        int length = memory.targetLength(index);
        if (length == 0 || lengths[index] > 0) {
            // The peer grants a target that is in use again only after it is used up.
            return;
        }
        if (length < 0 || length > RsMessage.MAX_DATA) {
            throw new ProtocolException("the peer grants " + length + " bytes");
        }
        addresses[index] = memory.targetAddress(index);
        keys[index] = memory.targetKey(index);
        lengths[index] = length;
        memory.clearTarget(index);
    }
}
