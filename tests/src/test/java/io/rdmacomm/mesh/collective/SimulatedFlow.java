package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One direction of a simulated lane: the pieces on their way, the slots that were given back, and at which hop.
final class SimulatedFlow {
    final MemorySegment memory;
    private Coroutines coroutines;
    private final int slots;
    private final int[] arrival;
    private final int[] bytes;
    private final int[] returned;
    private Coroutines.@Nullable Coroutine sender;
    private Coroutines.@Nullable Coroutine receiver;
    private long sent;
    private long taken;
    private long reported;
    private long readyCall = -1;
    private int readyTime;

    /// @param memory of the slots to send from
    SimulatedFlow(Coroutines coroutines, int slots, MemorySegment memory) {
        this.coroutines = coroutines;
        this.slots = slots;
        this.memory = memory;
        this.arrival = new int[slots];
        this.bytes = new int[slots];
        this.returned = new int[slots];
    }

    /// The next call has other coroutines.
    void use(Coroutines next) {
        coroutines = next;
    }

    private int slot(long number) {
        return (int) (number % slots);
    }

    // The sender.

    /// Waits for a slot.
    void awaitSlot() {
        while (sent - reported >= slots) {
            sender = coroutines.current();
            coroutines.pause();
        }
    }

    /// The slot that is sent next.
    int nextSlot() {
        return slot(sent);
    }

    /// The hop at which the receiver's word that this slot is free has arrived.
    int nextSlotReturned() {
        return returned[slot(sent)];
    }

    /// A piece is on its way.
    void put(int arrives, int length) {
        arrival[slot(sent)] = arrives;
        bytes[slot(sent)] = length;
        sent++;
        wake(receiver);
        receiver = null;
    }

    /// Waits until the receiver is ready for a call.
    ///
    /// @return the hop at which its word has arrived
    int awaitReady(long call) {
        while (readyCall < call) {
            sender = coroutines.current();
            coroutines.pause();
        }
        return readyTime;
    }

    // The receiver.

    /// Waits for a piece.
    ///
    /// @return the hop at which it has arrived
    int awaitPiece(int length) {
        while (taken == sent) {
            receiver = coroutines.current();
            coroutines.pause();
        }
        if (bytes[slot(taken)] != length) {
            throw new IllegalStateException(
                    "a piece of " + bytes[slot(taken)] + " bytes where " + length + " were due");
        }
        return arrival[slot(taken)];
    }

    /// The slot of the piece that is taken next.
    int firstSlot() {
        return slot(taken);
    }

    /// The piece is given back.
    ///
    /// @return how many were given back of which the sender does not know
    long take() {
        taken++;
        return taken - reported;
    }

    /// The sender learns of all that was given back.
    void report(int arrives) {
        for (; reported < taken; reported++) {
            returned[slot(reported)] = arrives;
        }
        wakeSender();
    }

    /// The sender learns that the receiver's buffer is its own in a call.
    void ready(long call, int arrives) {
        readyCall = call;
        readyTime = arrives;
        wakeSender();
    }

    private void wakeSender() {
        wake(sender);
        sender = null;
    }

    private void wake(Coroutines.@Nullable Coroutine one) {
        if (one != null) {
            coroutines.wake(one);
        }
    }
}
