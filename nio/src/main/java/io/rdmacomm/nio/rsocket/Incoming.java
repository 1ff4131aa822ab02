package io.rdmacomm.nio.rsocket;

import java.nio.ByteBuffer;

/// The stream from the peer: a ring to which the peer writes, and the messages that say how far. Each half of the
/// ring is granted to the peer when all of it was read. Not thread-safe.
final class Incoming {
    private static final int SEQUENCE_MASK = 0xffff;

    private final ConnectionMemory memory;
    private final ByteBuffer ring;
    private final int capacity;
    private final int half;
    private final int credits;
    /// The lengths of the messages that were not read to their end: a ring.
    private final int[] lengths;
    private int first;
    private int count;
    private long unread;
    private int position;
    /// How many bytes the peer may still write, how many bytes were read since a half was last granted, and where
    /// the next half begins that can be granted.
    private long writable;
    private int read;
    private int nextHalf;
    /// How many messages were read, and when it is time to say so.
    private int sequence;
    private int sequenceToTell;
    private int grants;
    private int nextTarget = 1;

    /// @param credits how many messages the peer may send ahead of the reader
    Incoming(ConnectionMemory memory, int capacity, int credits) {
        this.memory = memory;
        this.ring = memory.bytes();
        this.capacity = capacity;
        this.half = capacity / 2;
        this.credits = credits;
        this.lengths = new int[credits];
        this.sequenceToTell = credits / 2;
        // The first half is granted with the private data; the second one can be at once.
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

    /// A message that counts as one of the stream but has no bytes.
    void arrivedWithoutBytes() {
        sequence++;
    }

    /// Whether there are bytes to read.
    boolean hasBytes() {
        return unread > 0;
    }

    /// How many bytes there are to read.
    int bytes() {
        return (int) unread;
    }

    /// Reads as much as there is room for.
    ///
    /// @return how many bytes
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

    /// Whether the peer must hear that it may send more messages.
    boolean owesCredits() {
        return (short) (sequence - sequenceToTell) >= 0;
    }

    /// The message that tells the peer how many messages it may send.
    int credits() {
        sequenceToTell = (sequence + credits / 2) & SEQUENCE_MASK;
        return Message.credits(sequence + credits);
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

    /// Which target of the peer the next grant goes to; they take turns.
    int takeTarget(int targets) {
        int target = nextTarget;
        nextTarget = target + 1 == targets ? 0 : target + 1;
        return target;
    }
}
