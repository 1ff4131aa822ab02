package io.rdmacomm.soft.iwarp;

/// The frame with which an initiator allows the responder to send first (RFC 6581 5).
public enum ReadyToReceive {
    /// None was agreed on: the responder keeps silent until the initiator's first message has come.
    NONE,
    /// A Write without payload.
    WRITE,
    /// A Read of no bytes.
    READ
}
