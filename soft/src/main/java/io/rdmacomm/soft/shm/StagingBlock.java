package io.rdmacomm.soft.shm;

/// The layout of a staging block, through which one process asks the engine of another to copy.
///
/// ```
/// +0 ticket << 3 | state | +8 key | +12 target's queue pair | +16 address | +24 length
/// +32 compare or add | +40 swap | +48 old value | +56 operation | +60 LID of the target | +64 data
/// ```
///
/// Compare-and-set decides who may access the block. The engine changes ASKED to SERVED before it reads the
/// request; a requester that gives up changes ASKED to WITHDRAWN. A SERVED block belongs to the engine until it is
/// FINISHED, REFUSED or ABSENT. When a stopped peer resumes, it may find the message about a withdrawn request
/// although the block now holds a request for another peer. It ignores that request.
final class StagingBlock {
    static final int STATE = 0;
    static final int KEY = 8;
    static final int QUEUE_PAIR = 12;
    static final int ADDRESS = 16;
    static final int LENGTH = 24;
    static final int OPERAND = 32;
    static final int SWAP = 40;
    static final int OLD = 48;
    static final int OPERATION = 56;
    static final int TARGET = 60;
    static final int DATA = 64;
    static final int DATA_BYTES = 256 * 1024;
    static final int BYTES = DATA + DATA_BYTES;

    /// States.
    static final int WITHDRAWN = 0;

    static final int ASKED = 1;
    static final int SERVED = 2;
    static final int FINISHED = 3;
    static final int REFUSED = 4;

    /// The target's queue pair is not connected, or not yet. Nothing was done.
    static final int ABSENT = 5;

    private static final int STATE_MASK = 7;

    /// Operations.
    static final int WRITE = 0;

    static final int READ = 1;
    static final int COMPARE_AND_SWAP = 2;
    static final int FETCH_AND_ADD = 3;
    /// A write to the memory of a receive that the requester has taken.
    static final int DELIVER = 4;

    private StagingBlock() {}

    /// The word of the request with this number.
    static long word(long ticket, int state) {
        return ticket * (STATE_MASK + 1) + state;
    }

    /// The state in a word.
    static int state(long word) {
        return (int) word & STATE_MASK;
    }

    /// Whether the target has not answered yet.
    static boolean isUnanswered(int state) {
        return state == ASKED || state == SERVED;
    }

    /// The same request in another state.
    static long withState(long word, int state) {
        return (word & ~(long) STATE_MASK) | state;
    }

    /// Whether a block can be at `offset` of a control file of this size.
    static boolean canBeAt(long offset, long fileBytes) {
        return offset >= 0 && offset <= fileBytes - BYTES && (offset & 7) == 0;
    }
}
