package io.rdmacomm.soft.shm;

/// Where things are in a staging block, through which the stager of one process asks the engine of another to copy.
///
/// ```
/// +0 ticket << 2 | state | +8 region key | +16 offset | +24 length
/// +32 compare or add | +40 swap | +48 old value | +56 operation | +64 data
/// ```
final class StagingBlock {
    static final int STATE = 0;
    static final int KEY = 8;
    static final int OFFSET = 16;
    static final int LENGTH = 24;
    static final int OPERAND = 32;
    static final int SWAP = 40;
    static final int OLD = 48;
    static final int OPERATION = 56;
    static final int DATA = 64;
    static final int DATA_BYTES = 256 * 1024;
    static final int BYTES = DATA + DATA_BYTES;

    /// States.
    static final int ASKED = 1;

    static final int FINISHED = 2;
    static final int REFUSED = 3;

    /// Operations.
    static final int PUT = 0;

    static final int GET = 1;
    static final int COMPARE_AND_SWAP = 2;
    static final int FETCH_AND_ADD = 3;

    private StagingBlock() {}
}
