package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.wire.Packet;
import java.lang.foreign.MemorySegment;

/// What a queue pair does that depends on its transport service: its requester, its responder, and their timers. Called
/// by its [RoceTransport], under the queue pair's send lock.
interface RoceConnection {
    /// A packet has arrived.
    ///
    /// @param from the packet
    /// @return false if it is one of another transport service
    boolean receive(Packet packet, MemorySegment from);

    /// Sends what is to be sent, and tells the queue pair what has happened.
    void transmit();

    /// Does what was to be done by now.
    default void checkTime() {}

    /// A tick of the [SilenceClock] has passed.
    default void tick() {}

    /// The peer's queue pair is known to be ready, so that it would answer.
    default void reached() {}

    /// Whether every request that was begun has ended.
    boolean isDrained();

    /// Whether the peer has every answer that this side owes it.
    default boolean isAnswered() {
        return true;
    }

    /// Gives back the receive of an incomplete message, and releases all memory.
    void close();
}
