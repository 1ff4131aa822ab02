package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.wire.Packet;
import java.lang.foreign.MemorySegment;

/// The part of a queue pair that depends on its transport service: its requester, its responder, and their timers.
/// Called by its [RoceTransport], under the queue pair's send lock.
interface RoceConnection {
    /// A packet has arrived.
    ///
    /// @param from the packet
    /// @return false if it belongs to another transport service
    boolean receive(Packet packet, MemorySegment from);

    /// Sends pending packets, and reports events to the queue pair.
    void transmit();

    /// Does the work that is due.
    default void checkTime() {}

    /// A tick of the [SilenceClock] has passed.
    default void tick() {}

    /// The peer's queue pair is known to be ready, so it would answer.
    default void reached() {}

    /// Whether no request is in flight.
    boolean isDrained();

    /// Whether all answers to the peer were sent.
    default boolean isAnswered() {
        return true;
    }

    /// Gives back the receive of an incomplete message, and releases all memory.
    void close();
}
