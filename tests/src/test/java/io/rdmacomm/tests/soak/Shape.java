package io.rdmacomm.tests.soak;

import java.util.List;
import java.util.Random;

/// What one life of a link looks like; both sides draw the same from the same seed.
///
/// @param slot the longest payload
/// @param window how many requests of a direction may be unconfirmed
/// @param receives the depth of a receive queue, less than the window, so that senders also meet a receiver that is
///        not ready
/// @param sends the depth of the send queue; at times full
/// @param chain how many requests are posted at a time at most
/// @param noticed whether confirmations come with an immediate value, because a side waits for completion events
record Shape(int slot, int window, int receives, int sends, int chain, boolean noticed, List<Style> styles) {
    static final int INLINE = 64;
    private static final int FEW = 32;
    private static final int MANY = 128;
    static final int GUARD = 64;
    static final int LONGEST = 72 << 10;
    /// The depth of a completion queue: more than all work of a side.
    static final int COMPLETIONS = 512;

    /// What only one side of a link needs to know about itself.
    ///
    /// @param events whether it waits for completion events; otherwise it polls
    /// @param shared whether its receives are those of a shared receive queue
    /// @param ownWindow whether the peer's target is memory of the program, as opposed to memory of the device
    /// @param ownBuffers the same for its buffers
    record Style(boolean events, boolean shared, boolean ownWindow, boolean ownBuffers) {
        static Style of(Random random) {
            return new Style(
                    random.nextInt(3) > 0, random.nextInt(4) == 0, random.nextInt(3) == 0, random.nextInt(3) == 0);
        }
    }

    static Shape of(long seed) {
        Random random = new Random(seed);
        List<Style> styles = List.of(Style.of(random), Style.of(random));
        boolean isLong = random.nextInt(4) == 0;
        int window = isLong ? FEW : MANY;
        return new Shape(
                isLong ? LONGEST : 4 << 10,
                window,
                4 + random.nextInt(window),
                4 + random.nextInt(100),
                1 + random.nextInt(12),
                styles.get(0).events || styles.get(1).events,
                styles);
    }

    /// The bytes between the starts of two slots.
    long stride() {
        return (long) slot + GUARD;
    }

    /// The index of the slot of a request.
    int index(long number) {
        return (int) (number % window);
    }

    /// Where the slot of a request begins, in the buffers of its side and in the peer's window. After all slots of
    /// the window come the area that is only read, the word for atomics, and the word that confirms messages.
    long slotAt(long number) {
        return index(number) * stride();
    }

    long constantAt() {
        return window * stride();
    }

    long wordAt() {
        return constantAt() + stride();
    }

    long confirmationAt() {
        return wordAt() + 64;
    }
}
