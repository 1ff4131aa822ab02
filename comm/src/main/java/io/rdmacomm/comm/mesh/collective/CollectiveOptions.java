package io.rdmacomm.comm.mesh.collective;

/// The memory that collectives use between two ranks. All ranks must use the same options.
///
/// Data that is not written straight into its target travels in pieces through slots, which are registered
/// memory: each rank has `slots` of `slotBytes` for each of two streams to and from each peer, which makes
/// `4 * slots * slotBytes` for each peer.
///
/// @param slots how many pieces of a stream may be on their way, 2 to 64
/// @param slotBytes the length of a piece, 256 to 16 MiB, a multiple of 64; 0 for automatic: 128 KiB, or less
///        so that all slots of a rank have at most 64 MiB
/// @param messageBytes pieces up to this length travel in a message instead of a slot, 0 to 1 MiB; the data
///        channels must allow messages 64 bytes longer
public record CollectiveOptions(int slots, int slotBytes, int messageBytes) {
    private static final int USUAL_SLOT = 128 << 10;
    private static final long MOST_MEMORY = 64 << 20;
    private static final int LEAST_SLOT = 4 << 10;
    private static final CollectiveOptions DEFAULTS = new CollectiveOptions(4, 0, 4 << 10);

    /// Checks the ranges.
    public CollectiveOptions {
        Bounds.range("slots", slots, 2, 64);
        if (slotBytes != 0) {
            Bounds.range("slot bytes", slotBytes, 256, 16 << 20);
        }
        if (slotBytes % 64 != 0) {
            throw new IllegalArgumentException("slot bytes are " + slotBytes + ", must be a multiple of 64");
        }
        Bounds.range("message bytes", messageBytes, 0, 1 << 20);
    }

    /// 4 slots of automatic length, messages up to 4 KiB.
    public static CollectiveOptions defaults() {
        return DEFAULTS;
    }

    /// These options with another number of slots.
    public CollectiveOptions withSlots(int value) {
        return new CollectiveOptions(value, slotBytes, messageBytes);
    }

    /// These options with another length of pieces.
    public CollectiveOptions withSlotBytes(int value) {
        return new CollectiveOptions(slots, value, messageBytes);
    }

    /// These options with another limit for messages.
    public CollectiveOptions withMessageBytes(int value) {
        return new CollectiveOptions(slots, slotBytes, value);
    }

    /// These options with lengths for `peers` other ranks.
    CollectiveOptions settled(int peers) {
        int length = slotBytes;
        if (length == 0) {
            long share = MOST_MEMORY / (4L * slots * Math.max(1, peers));
            length = Math.clamp(Long.highestOneBit(share), LEAST_SLOT, USUAL_SLOT);
        }
        return new CollectiveOptions(slots, length, Math.min(messageBytes, length));
    }
}
