package io.rdmacomm.tests.soak;

/// The operation of a request.
enum Kind {
    SEND(true),
    SEND_INLINE(true),
    SEND_WITH_IMMEDIATE(true),
    WRITE(false),
    WRITE_INLINE(false),
    WRITE_WITH_IMMEDIATE(true),
    READ(false),
    READ_BACK(false),
    FETCH_AND_ADD(false),
    COMPARE_AND_SWAP(false);

    private final boolean notifies;

    Kind(boolean notifies) {
        this.notifies = notifies;
    }

    /// Returns whether the peer gets a completion: a message.
    boolean notifies() {
        return notifies;
    }

    /// Returns whether it writes into a slot of the peer's window.
    boolean writes() {
        return this == WRITE || this == WRITE_INLINE || this == WRITE_WITH_IMMEDIATE;
    }

    boolean isInline() {
        return this == SEND_INLINE || this == WRITE_INLINE;
    }

    boolean isAtomic() {
        return this == FETCH_AND_ADD || this == COMPARE_AND_SWAP;
    }

    /// Returns whether it brings data back.
    boolean returns() {
        return this == READ || this == READ_BACK || isAtomic();
    }
}
