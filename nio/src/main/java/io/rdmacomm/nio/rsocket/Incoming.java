package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.MemoryRegion;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The stream from the peer: a ring that the peer writes to, and messages that announce the bytes. Each half of the
/// ring is granted to the peer again once all of it was read. Not thread-safe.
///
/// A peer that fills the whole ring waits for the reader. If the reader finds the ring empty later, both ends only
/// wait for each other. After some times the ring grows: a grant has the address and the key of its memory, so from
/// then on each grant is for a half of a larger ring.
final class Incoming {
    private static final int SEQUENCE_MASK = 0xffff;
    /// So often must a full ring have been read to its end before the ring grows.
    private static final int FULL_RINGS = 4;

    private final ConnectionMemory memory;
    private final int mostBytes;
    private final int credits;
    /// The halves of the ring in the order in which the peer fills them.
    private final Half[] halves = new Half[2];
    /// The remaining lengths of the messages that were not completely read: a ring.
    private final int[] lengths;
    private int first;
    private int count;
    private long unread;
    /// The half that is being read, and the position in it.
    private int reading;
    private int position;
    /// The bytes that the peer may still write, the halves that it may be granted, and the next half to grant.
    private long writable;
    private int owed;
    private int nextHalf = 1;
    /// Whether the peer has filled the ring since it was last empty, how often it was filled and read to its end, and
    /// the larger ring.
    private boolean full;
    private int fullRings;
    private @Nullable MemoryRegion larger;
    /// The number of messages read, and the number at which to send new credits.
    private int sequence;
    private int sequenceToTell;
    private int grants;
    private int nextTarget = 1;

    /// A part of a ring.
    ///
    /// @param bytes the ring
    private record Half(MemoryRegion region, ByteBuffer bytes, int at, int length) {}

    Incoming(ConnectionMemory memory, BufferSizes sizes) {
        this.memory = memory;
        this.mostBytes = sizes.mostReceive();
        this.credits = sizes.messages();
        this.lengths = new int[credits];
        this.sequenceToTell = credits / 2;
        int half = sizes.receive() / 2;
        for (int i = 0; i < halves.length; i++) {
            halves[i] = new Half(memory.region(), memory.bytes(), i * half, half);
        }
        // The private data grants the first half; the second one can be granted at once.
        this.writable = half;
        this.owed = 1;
    }

    /// The peer has written bytes.
    void arrived(int bytes) throws ProtocolException {
        if (bytes > writable || count == credits) {
            throw new ProtocolException("the peer announces " + bytes + " bytes, and may write " + writable
                    + "; it has sent " + count + " of " + credits + " messages that were not read yet");
        }
        writable -= bytes;
        unread += bytes;
        full |= writable == 0;
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
            Half half = halves[reading];
            int part = (int) Math.min(Math.min(target.remaining(), unread), half.length - position);
            target.put(target.position(), half.bytes, half.at + position, part);
            target.position(target.position() + part);
            position += part;
            if (position == half.length) {
                position = 0;
                reading ^= 1;
                owed++;
            }
            unread -= part;
            total += part;
            release(part);
        }
        if (full && unread == 0) {
            full = false;
            fullRings++;
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
        return owed > 0;
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
        grow();
        Half half = halves[nextHalf];
        int at = memory.putGrant(grants, half.region, half.at, half.length);
        grants = (grants + 1) % ConnectionMemory.GRANTS;
        owed--;
        writable += half.length;
        nextHalf ^= 1;
        return at;
    }

    /// Replaces the half that is granted next, all of which was read, by a larger one, if it is time for that.
    private void grow() {
        if (fullRings >= FULL_RINGS && larger == null && mostBytes > 2 * halves[nextHalf].length) {
            fullRings = 0;
            larger = memory.enlargeRing(mostBytes);
        }
        MemoryRegion ring = larger;
        if (ring != null && halves[nextHalf].region != ring) {
            int length = mostBytes / 2;
            ByteBuffer bytes = ring.segment().asByteBuffer();
            halves[nextHalf] = new Half(ring, bytes, nextHalf * length, length);
        }
    }

    /// The target of the peer for the next grant; targets are used in turn.
    int takeTarget(int targets) {
        int target = nextTarget;
        nextTarget = target + 1 == targets ? 0 : target + 1;
        return target;
    }
}
