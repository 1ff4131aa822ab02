package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.AsyncEventType;

/// An asynchronous event ([io.rdmacomm.verbs.AsyncEvent]) as drivers report it.
///
/// @param type what happened
/// @param element depends on the type: the number of the queue pair, unsigned; the handle of the completion queue or
///        shared receive queue; the port, counted from 1; otherwise 0
public record DriverEvent(AsyncEventType type, long element) {}
