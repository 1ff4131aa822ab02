package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The payload of an Atomic Request (RFC 7306 5.1). Reusable. Limited to what verbs can express:
/// FetchAdd on all 64 bits at once, CmpSwap on all bits.
public final class AtomicRequest {
    /// Adds, and returns the old value.
    public static final int FETCH_ADD = 0;
    /// Replaces the value if it is the expected one, and returns the old value.
    public static final int COMPARE_SWAP = 2;

    private static final int OPERATION_MASK = 0x0f;

    /// [#FETCH_ADD] or [#COMPARE_SWAP].
    public int operation;
    /// Repeated in the response.
    public int identifier;
    /// Key of the responder's memory.
    public int key;
    /// Address in the responder's memory, a multiple of 8.
    public long address;
    /// The value to add or to store.
    public long value;
    /// The value to compare with.
    public long compare;

    /// Writes the request after the header that [SegmentHeader#encode] wrote.
    ///
    /// @param at the first byte of the frame
    public void encode(ByteBuffer into, int at) {
        boolean swap = operation == COMPARE_SWAP;
        into.putInt(at + FpduLayout.ATOMIC_OPERATION, operation);
        into.putInt(at + FpduLayout.ATOMIC_IDENTIFIER, identifier);
        into.putInt(at + FpduLayout.ATOMIC_KEY, key);
        into.putLong(at + FpduLayout.ATOMIC_ADDRESS, address);
        into.putLong(at + FpduLayout.ATOMIC_VALUE, value);
        // For FetchAdd, a set bit marks the top of a field, which stops the carry. No set bit: one field of 64
        // bits.
        into.putLong(at + FpduLayout.ATOMIC_VALUE_MASK, swap ? -1L : 0);
        into.putLong(at + FpduLayout.ATOMIC_COMPARE, swap ? compare : 0);
        into.putLong(at + FpduLayout.ATOMIC_COMPARE_MASK, swap ? -1L : 0);
    }

    /// Reads a request whose header passed [SegmentHeader#decode].
    ///
    /// @param at the first byte of the frame
    public Violation decode(ByteBuffer from, int at) {
        operation = from.getInt(at + FpduLayout.ATOMIC_OPERATION) & OPERATION_MASK;
        identifier = from.getInt(at + FpduLayout.ATOMIC_IDENTIFIER);
        key = from.getInt(at + FpduLayout.ATOMIC_KEY);
        address = from.getLong(at + FpduLayout.ATOMIC_ADDRESS);
        value = from.getLong(at + FpduLayout.ATOMIC_VALUE);
        compare = from.getLong(at + FpduLayout.ATOMIC_COMPARE);
        if (operation != FETCH_ADD && operation != COMPARE_SWAP) {
            return Violation.ATOMIC_OPERATION;
        }
        if ((address & (Long.BYTES - 1)) != 0) {
            return Violation.ATOMIC_ALIGNMENT;
        }
        return masksAreThoseOfVerbs(from, at) ? Violation.NONE : Violation.ATOMIC_MASK;
    }

    private boolean masksAreThoseOfVerbs(ByteBuffer from, int at) {
        long valueMask = from.getLong(at + FpduLayout.ATOMIC_VALUE_MASK);
        if (operation == COMPARE_SWAP) {
            return valueMask == -1L && from.getLong(at + FpduLayout.ATOMIC_COMPARE_MASK) == -1L;
        }
        // The highest bit has no carry to stop, so it does not matter.
        return (valueMask & Long.MAX_VALUE) == 0;
    }
}
