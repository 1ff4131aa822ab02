package io.rdmacomm.comm.counters;

/// The numbers of a record of the counters file, in the order of the file. To add one, append it and raise
/// [CountersLayout#VERSION].
public enum Counter {
    /// Operations that were accepted.
    OPERATIONS,
    /// Operations that succeeded.
    COMPLETED,
    /// Operations that failed or were flushed.
    FAILED,
    /// Bytes of SENDs and WRITEs.
    BYTES_OUT,
    /// Bytes of READs.
    BYTES_READ,
    /// Messages that arrived.
    MESSAGES,
    /// Notices that arrived.
    NOTICES,
    /// Bytes of messages and of WRITEs with notice that arrived.
    BYTES_IN,
    /// How often the send window was full.
    WINDOW_STALLS,
    /// How often the peer had no receive left.
    CREDIT_STALLS,
    /// How often the peer was told of new receives.
    CREDIT_UPDATES,
    /// Exceptions that handlers threw.
    HANDLER_ERRORS,
    /// Operations in flight at that moment; the only one that does not only grow.
    IN_FLIGHT;

    static final Counter[] ALL = values();
}
