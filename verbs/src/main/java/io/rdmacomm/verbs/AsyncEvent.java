package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// Something that happened to a device, port or object without being asked for (ibv_get_async_event(3)).
///
/// The event is acknowledged when it is handed out: this record keeps the object's Java side alive, so nothing can
/// be destroyed under its reader.
///
/// @param type what happened
/// @param resource the queue pair, completion queue or shared receive queue it happened to; null for ports and
///         devices
/// @param port the port it happened to, counted from 1; 0 when it is not about a port
public record AsyncEvent(AsyncEventType type, @Nullable Resource resource, int port) {}
