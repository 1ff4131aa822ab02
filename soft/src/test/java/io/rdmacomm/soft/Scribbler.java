package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.verbs.QueuePair;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Writes words into a control file that no correct process writes there, but that look as if one did: offsets that are
/// off by one, other positions, huge sizes, words of other places.
final class Scribbler {
    private static final int[] BLOCK = {
        ControlLayout.QP_IDENTITY,
        ControlLayout.QP_DESTINATION,
        ControlLayout.QP_GID_HIGH,
        ControlLayout.QP_LID,
        ControlLayout.QP_DOMAIN,
        ControlLayout.QP_ACCESS,
        ControlLayout.QP_RECEIVE_RING,
        ControlLayout.QP_RECEIVE_COMPLETIONS,
        ControlLayout.QP_ON_HOST,
        ControlLayout.QP_JOURNAL_RECEIVE,
        ControlLayout.QP_JOURNAL_WORK_ID,
        ControlLayout.QP_JOURNAL_COMPLETION
    };
    private static final int[] RECEIVES = {0, 8, 16, 64, 128, 192};
    private static final int[] QUEUE = {0, 8, 16, 64};
    private static final int[] RING = {0, 8, 64};
    private static final int ENTRY_WORDS = 40;
    private static final int SLOTS = 20;
    private static final int KEYS = 16;
    private static final long[] EDGES = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 43, 1L << 44, -64};

    private final Random random;
    private final ForeignHand hand;
    private final List<Long> places = new ArrayList<>();

    Scribbler(Random random, ForeignHand hand, QueuePair pair) {
        this.random = random;
        this.hand = hand;
        add(hand.block(pair), BLOCK);
        add(hand.receives(pair), RECEIVES);
        add(hand.completions(pair), QUEUE);
        add(hand.ring(pair), RING);
        for (int i = 0; i < ENTRY_WORDS; i++) {
            places.add(hand.receives(pair) + 256 + i * 8L);
        }
        for (int i = 0; i < SLOTS; i++) {
            places.add(hand.ring(pair) + 128 + i * 64L);
        }
        for (int i = 0; i < KEYS; i++) {
            places.add(ControlLayout.KEYS + (long) i * ControlLayout.KEY_BYTES + random.nextInt(7) * 8L);
        }
        places.add(ControlLayout.HEADER_KEYS);
    }

    private void add(long base, int[] offsets) {
        for (int offset : offsets) {
            places.add(base + offset);
        }
    }

    private long place() {
        return places.get(random.nextInt(places.size()));
    }

    /// Spoils some words.
    void scribble() {
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            long at = place();
            if (random.nextInt(4) == 0) {
                hand.setInt(at + random.nextInt(2) * 4L, (int) value(hand.get(at)));
            } else {
                hand.set(at, value(hand.get(at)));
            }
        }
    }

    private long value(long before) {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextLong();
            case 1 -> EDGES[random.nextInt(EDGES.length)];
            case 2 -> (1L << random.nextInt(64)) - 1;
            case 3 -> before + random.nextInt(-64, 65);
            case 4 -> before ^ 1L << random.nextInt(64);
            case 5 -> hand.get(place());
            case 6 -> place() + random.nextInt(-1, 2);
            default -> slotWord(before);
        };
    }

    /// Another kind, owner or position in a slot.
    private long slotWord(long before) {
        long position = (before >>> 20) + random.nextInt(-1, 2) * (1L << random.nextInt(44));
        return position << 20 | random.nextInt(1 << 16) << 4 | random.nextInt(6);
    }
}
