package io.rdmacomm.tests.soak;

/// All requests of one direction of a link, as a function of their number, so that both sides know them. The last
/// of every eight is a signaled SEND.
final class Plan {
    static final int GROUP = 8;
    /// The immediate value of a confirmation; no request has it.
    static final int CONFIRMING = Integer.MIN_VALUE;

    private static final Kind[] KINDS = Kind.values();

    private final long seed;
    private final Shape shape;

    Plan(long seed, Shape shape) {
        this.seed = seed;
        this.shape = shape;
    }

    private long dice(long number, int what) {
        return Content.mix(seed ^ Content.mix(number * 8 + what));
    }

    Kind kind(long number) {
        return number % GROUP == GROUP - 1
                ? Kind.SEND
                : KINDS[(int) Long.remainderUnsigned(dice(number, 0), KINDS.length)];
    }

    boolean isSignaled(long number) {
        return kind(number).returns() || number % 4 == 3 || (dice(number, 1) & 1) == 0;
    }

    /// The length of the payload. One in sixteen is long.
    int length(long number) {
        Kind kind = kind(number);
        if (kind.isAtomic()) {
            return 8;
        }
        if (kind == Kind.READ_BACK) {
            long source = written(number);
            return source < 0 ? 8 : length(source);
        }
        long dice = dice(number, 2);
        int most = kind.isInline() ? Shape.INLINE : (dice & 0xf00) == 0 ? shape.slot() : 256;
        return (int) Long.remainderUnsigned(dice >>> 12, most + 1);
    }

    /// The request before `number` whose slot in the window a READ_BACK reads; -1 if there is none.
    long written(long number) {
        for (long earlier = number - 1; earlier >= 0 && earlier > number - shape.window(); earlier--) {
            if (kind(earlier).writes()) {
                return earlier;
            }
        }
        return -1;
    }

    /// Where a READ begins in the area that never changes: a multiple of 8.
    int offset(long number) {
        int room = shape.slot() - length(number);
        return (int) Long.remainderUnsigned(dice(number, 3), room / 8 + 1) * 8;
    }

    /// The addend of an atomic, or the value to swap in.
    long operand(long number) {
        return dice(number, 4);
    }

    /// Returns whether a COMPARE_AND_SWAP expects the right value.
    boolean isExpectedRight(long number) {
        return (dice(number, 5) & 1) == 0;
    }

    /// A READ that is followed by a WRITE to the same place must be fenced off (IBTA 10.8.3.3).
    boolean isFenced(long number) {
        return number > 0 && (kind(number - 1) == Kind.READ_BACK || (dice(number, 6) & 7) == 0);
    }

    /// The key of the content of a request's payload.
    long key(long number) {
        return dice(number, 7);
    }

    /// The key of the area that the peer only reads. Differs from those of all payloads.
    long constantKey() {
        return Content.mix(~seed);
    }

    int immediate(long number) {
        return (int) number & Integer.MAX_VALUE;
    }
}
