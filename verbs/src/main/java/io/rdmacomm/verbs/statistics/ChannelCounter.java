package io.rdmacomm.verbs.statistics;

/// The counters of a channel. The numbers only grow. Later versions may count more.
///
/// WRITEs without notice and READs of the peer are not counted: this side does not see them.
// The order is that of the counters file: to add one, append it and raise CountersLayout.VERSION.
public enum ChannelCounter {
    /// Operations that were accepted.
    OPERATIONS("operations", "operations that were accepted"),
    /// Operations that succeeded.
    COMPLETED("operations", "operations that succeeded"),
    /// Operations that failed or were flushed.
    FAILED("operations", "operations that failed or were flushed"),
    /// Bytes of SENDs and WRITEs that were accepted.
    BYTES_OUT("bytes", "bytes of SENDs and WRITEs that were accepted"),
    /// Bytes of READs that were accepted.
    BYTES_READ("bytes", "bytes of READs that were accepted"),
    /// Messages that arrived.
    MESSAGES("messages", "messages that arrived"),
    /// Notices of WRITEs that arrived.
    NOTICES("notices", "notices of WRITEs that arrived"),
    /// Bytes of messages and of WRITEs with notice that arrived.
    BYTES_IN("bytes", "bytes of messages and of WRITEs with notice that arrived"),
    /// Operations that were not accepted at once because the send window was full.
    WINDOW_STALLS("operations", "operations that were not accepted at once because the send window was full"),
    /// Operations that were not accepted at once because the peer had no receive left.
    CREDIT_STALLS("operations", "operations that were not accepted at once because the peer had no receive left"),
    /// Credit updates that were sent to the peer.
    CREDIT_UPDATES("updates", "credit updates that were sent to the peer"),
    /// Exceptions thrown by handlers.
    HANDLER_ERRORS("exceptions", "exceptions thrown by handlers");

    private final String unit;
    private final String description;

    ChannelCounter(String unit, String description) {
        this.unit = unit;
        this.description = description;
    }

    /// The unit of the counter, for example `bytes`.
    public String unit() {
        return unit;
    }

    /// A short description of the counter, to show to users.
    public String description() {
        return description;
    }
}
