package io.rdmacomm.comm;

/// The states of an endpoint. [#FAILED] is never overwritten.
public enum EndPointState {
    /// The handshake with the peer is in progress.
    CONNECTING,
    /// Ready to send.
    READY,
    /// The peer has closed its side in order. Its messages can still be received; nothing can be sent.
    PEER_DONE,
    /// Draining, then freeing.
    CLOSING,
    /// The peer died or a queue pair failed. Everything in flight was flushed. It must still be closed.
    FAILED,
    /// Closed in order; everything is freed. An endpoint that failed stays [#FAILED] when it is closed.
    CLOSED
}
