package io.rdmacomm.soft.shm;

/// The messages on control connections between contexts of one host: 24 bytes each, in native byte order.
///
/// ```
/// +0 type | +4 number | +8 first | +16 second
/// ```
public final class ShmMessage {
    /// Size of a message.
    public static final int BYTES = 24;
    /// The first message of a connection: number is the sender's LID, first and second are its GID.
    public static final int HELLO = 1;
    /// The completion queue `number` was armed without a bell and has a completion.
    public static final int COMPLETION = 2;
    /// The queue pair `number` must fail; first is the code of the asynchronous event to raise.
    public static final int FAULT = 3;
    /// The completion queue `number` overran.
    public static final int OVERRUN = 4;
    /// The shared receive queue `number` fell below its limit.
    public static final int LIMIT = 5;
    /// Regions of the context with the LID first are gone: drop their mappings.
    public static final int REGIONS_GONE = 6;
    /// The staging block at first asks for a transfer.
    public static final int STAGE = 7;
    /// The staging block at first is done.
    public static final int STAGED = 8;
    /// The queue pair `number` got its first message.
    public static final int ESTABLISHED = 9;
    /// Threads sleep for a message at the bell at first, which has rung.
    public static final int BELL = 10;

    private ShmMessage() {}
}
