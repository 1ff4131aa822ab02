package io.rdmacomm.cli.rig;

/// The way a program waits at its socket.
public enum Waiting {
    /// In blocking calls.
    BLOCKING,
    /// In a selector, when a call of a channel that does not block had nothing to do.
    SELECTOR,
    /// Not at all: it calls again.
    SPINNING
}
