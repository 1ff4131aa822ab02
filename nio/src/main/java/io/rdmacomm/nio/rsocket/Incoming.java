package io.rdmacomm.nio.rsocket;

import java.nio.ByteBuffer;

/// The stream from the peer: a ring that the peer writes to, and messages that announce the bytes. Each half of the
/// ring is granted to the peer again once all of it was read. Not thread-safe.
final class Incoming {
    private static final int SEQUENCE_MASK = 0xffff;

    private final ConnectionMemory memory;
    private final ByteBuffer ring;
    private final int capacity;
    private final int half;
    private final int credits;
    /// The remaining lengths of the messages that were not completely read: a ring.
    private final int[] lengths;
    private int first;
    private int count;
    private long unread;
    private int position;
    /// The bytes that the peer may still write, the bytes read since a half was last granted, and the offset of the
    /// next half to grant.
    private long writable;
    private int read;
    private int nextHalf;
    /// The number of messages read, and the number at which to send new credits.
    private int sequence;
    private int sequenceToTell;
    private int grants;
    private int nextTarget = 1;

    /// @param credits the number of messages that the peer may send ahead of the reader
    Incoming(ConnectionMemory memory, int capacity, int credits) {
        this.memory = memory;
        this.ring = memory.bytes();
        this.capacity = capacity;
        this.half = capacity / 2;
        this.credits = credits;
        this.lengths = new int[credits];
        this.sequenceToTell = credits / 2;
        // The private data grants the first half; the second one can be granted at once.
        this.writable = half;
        this.read = half;
        this.nextHalf = half;
    }

    /// The peer has written bytes.
    void arrived(int bytes) throws ProtocolException {
        if (bytes > writable || count == credits) {
            throw new ProtocolException("the peer announces " + bytes + " bytes, and may write " + writable
                    + "; it has sent " + count + " of " + credits + " messages that were not read yet");
        }
        writable -= bytes;
        unread += bytes;
        int last = first + count;
        lengths[last < credits ? last : last - credits] = bytes;
        count++;
    }

    /// Counts a message of the stream that carries no bytes.
    void arrivedWithoutBytes() {
        sequence++;
    }

    /// Whether there are bytes to read.
    boolean hasBytes() {
        return unread > 0;
    }

    /// The number of bytes to read.
    int bytes() {
        return (int) unread;
    }

    /// Reads as much as fits.
    ///
    /// @return the number of bytes
    int read(ByteBuffer target) {
        int total = 0;
        while (target.hasRemaining() && unread > 0) {
            int part = (int) Math.min(Math.min(target.remaining(), unread), capacity - position);
            target.put(target.position(), ring, position, part);
            target.position(target.position() + part);
            position = position + part == capacity ? 0 : position + part;
            unread -= part;
            read += part;
            total += part;
            release(part);
        }
        return total;
    }

    private void release(int bytes) {
        int left = bytes;
        while (left > 0) {
            int part = Math.min(left, lengths[first]);
            lengths[first] -= part;
            left -= part;
            if (lengths[first] == 0) {
                first = first + 1 == credits ? 0 : first + 1;
                count--;
                sequence++;
            }
        }
    }

    /// Whether a half of the ring can be granted.
    boolean owesGrant() {
        return read >= half;
    }

    /// Whether to notify the peer that it may send more messages.
    boolean owesCredits() {
        return (short) (sequence - sequenceToTell) >= 0;
    }

    /// The message with the peer's new credits.
    int credits() {
        sequenceToTell = (sequence + credits / 2) & SEQUENCE_MASK;
        return RsMessage.credits(sequence + credits);
    }

    /// Prepares the grant of a half.
    ///
    /// @return its offset in the memory of this process
    int prepareGrant() {
        int at = memory.putGrant(grants, nextHalf, half);
        grants = (grants + 1) % ConnectionMemory.GRANTS;
        read -= half;
        writable += half;
        nextHalf = nextHalf == 0 ? half : 0;
        return at;
    }

    /// The target of the peer for the next grant; targets are used in turn.
    int takeTarget(int targets) {
        int target = nextTarget;
        nextTarget = target + 1 == targets ? 0 : target + 1;
        return target;
    }
}
