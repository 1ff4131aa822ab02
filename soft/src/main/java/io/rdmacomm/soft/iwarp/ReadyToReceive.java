package io.rdmacomm.soft.iwarp;

/// The frame with which an initiator allows the responder to send first (RFC 6581 5).
public enum ReadyToReceive {
    /// None: the responder sends nothing until the initiator's first message has come.
    NONE,
    /// An empty Write.
    WRITE,
    /// An empty Read.
    READ
}
