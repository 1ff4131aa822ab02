package io.rdmacomm.mesh.collective;

/// The number and length of slots for a mesh of a certain size.
///
/// @param slots the limit of pieces of a stream in flight
/// @param slotBytes the length of a piece
/// @param messageBytes pieces up to this length travel in a message
record SlotSizes(int slots, int slotBytes, int messageBytes) {
    private static final int MAX_AUTOMATIC = 128 << 10;
    private static final int MIN_AUTOMATIC = 4 << 10;
    private static final long MAX_MEMORY = 64 << 20;

    /// @param peers the number of other ranks
    static SlotSizes of(CollectiveOptions options, int peers) {
        int given = options.slotBytes();
        int length = given == 0 ? automaticBytes(options.slots(), peers) : given;
        return new SlotSizes(options.slots(), length, Math.min(options.messageBytes(), length));
    }

    private static int automaticBytes(int slots, int peers) {
        long share = MAX_MEMORY / (4L * slots * Math.max(1, peers));
        return Math.clamp(Long.highestOneBit(share), MIN_AUTOMATIC, MAX_AUTOMATIC);
    }
}
