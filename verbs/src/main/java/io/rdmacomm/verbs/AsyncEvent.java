package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// A change of a device, port or object that was not caused by a call (ibv_get_async_event(3)).
///
/// The event is already acknowledged (ibv_ack_async_event(3)): closing the object does not wait for the reader of
/// this record.
///
/// @param type what happened
/// @param resource the queue pair, completion queue or shared receive queue concerned; null for ports and devices
/// @param port the port concerned, counted from 1; 0 if no port is
public record AsyncEvent(AsyncEventType type, @Nullable Resource resource, int port) {}
