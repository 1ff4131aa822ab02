package io.rdmacomm.mesh.collective;

import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The memory that collectives use between two ranks. All ranks must use the same options. Immutable.
///
/// Data that is not written directly to its target travels in pieces through slots in registered memory. For each
/// of two streams to and from each peer, each rank has `slots` of `slotBytes`: in total `4 * slots * slotBytes` for
/// each peer.
public final class CollectiveOptions {
    private static final CollectiveOptions DEFAULTS = new CollectiveOptions();

    private int slots = 4;
    private int slotBytes;
    private int messageBytes = 4 << 10;

    private CollectiveOptions() {}

    private CollectiveOptions with(Consumer<CollectiveOptions> change) {
        CollectiveOptions copy = new CollectiveOptions();
        copy.slots = slots;
        copy.slotBytes = slotBytes;
        copy.messageBytes = messageBytes;
        change.accept(copy);
        return copy;
    }

    /// 4 slots, whose length depends on the number of ranks, and messages up to 4 KiB.
    public static CollectiveOptions defaults() {
        return DEFAULTS;
    }

    /// These options with another number of slots.
    ///
    /// @param value 2 to 64
    public CollectiveOptions withSlots(int value) {
        Bounds.range("slots", value, 2, 64);
        return with(to -> to.slots = value);
    }

    /// These options with another length of pieces.
    ///
    /// @param value 256 to 16 MiB, a multiple of 64
    public CollectiveOptions withSlotBytes(int value) {
        Bounds.range("slot bytes", value, 256, 16 << 20);
        if (value % 64 != 0) {
            throw new IllegalArgumentException("slot bytes are " + value + ", must be a multiple of 64");
        }
        return with(to -> to.slotBytes = value);
    }

    /// These options with another limit for messages.
    ///
    /// @param value 0 to 1 MiB; the data channels must allow messages 64 bytes longer
    public CollectiveOptions withMessageBytes(int value) {
        Bounds.range("message bytes", value, 0, 1 << 20);
        return with(to -> to.messageBytes = value);
    }

    /// The limit of pieces of a stream in flight.
    public int slots() {
        return slots;
    }

    /// The length of a piece in bytes; 0 if it was not set. Then it is the largest power of two from 4 KiB to 128 KiB
    /// with which all slots of a rank have at most 64 MiB; 4 KiB if there is none.
    public int slotBytes() {
        return slotBytes;
    }

    /// Pieces up to this length travel in a message instead of a slot. No piece is longer than a slot.
    public int messageBytes() {
        return messageBytes;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CollectiveOptions options
                && slots == options.slots
                && slotBytes == options.slotBytes
                && messageBytes == options.messageBytes;
    }

    @Override
    public int hashCode() {
        return Objects.hash(slots, slotBytes, messageBytes);
    }

    @Override
    public String toString() {
        return slots + " slots of " + (slotBytes == 0 ? "automatic length" : slotBytes + " bytes")
                + " and messages up to " + messageBytes + " bytes";
    }
}
