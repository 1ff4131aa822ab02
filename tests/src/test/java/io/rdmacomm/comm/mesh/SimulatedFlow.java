package io.rdmacomm.comm.mesh;

import io.rdmacomm.tests.simulation.clock.Coroutines;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One direction of a simulated lane: the pieces on their way, the slots that were given back, and when.
final class SimulatedFlow {
    final MemorySegment memory;
    private Coroutines coroutines;
    private final int slots;
    private final double[] arrival;
    private final int[] bytes;
    private final boolean[] inTarget;
    private final double[] returned;
    private final boolean[] noticed;
    private Coroutines.@Nullable Coroutine sender;
    private Coroutines.@Nullable Coroutine receiver;
    private long sent;
    private long taken;
    private long reported;
    private long readyCall = -1;
    private double readyTime;

    /// @param memory of the slots to send from
    SimulatedFlow(Coroutines coroutines, int slots, MemorySegment memory) {
        this.coroutines = coroutines;
        this.slots = slots;
        this.memory = memory;
        this.arrival = new double[slots];
        this.bytes = new int[slots];
        this.inTarget = new boolean[slots];
        this.returned = new double[slots];
        this.noticed = new boolean[slots];
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

    /// When the receiver's word that this slot is free has arrived.
    double nextSlotReturned() {
        return returned[slot(sent)];
    }

    /// Whether that word was a message of its own, which has to be taken.
    boolean nextSlotNoticed() {
        boolean was = noticed[slot(sent)];
        noticed[slot(sent)] = false;
        return was;
    }

    /// A piece is on its way.
    void put(double arrives, int length, boolean intoTarget) {
        arrival[slot(sent)] = arrives;
        bytes[slot(sent)] = length;
        inTarget[slot(sent)] = intoTarget;
        sent++;
        wake(receiver);
        receiver = null;
    }

    /// Waits until the receiver is ready for a call.
    ///
    /// @return when its word has arrived
    double awaitReady(long call) {
        while (readyCall < call) {
            sender = coroutines.current();
            coroutines.pause();
        }
        return readyTime;
    }

    // The receiver.

    /// Waits for a piece.
    ///
    /// @return when it has arrived
    double awaitPiece(int length) {
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

    boolean firstInTarget() {
        return inTarget[slot(taken)];
    }

    /// The piece is given back.
    ///
    /// @return how many were given back of which the sender does not know
    long take() {
        taken++;
        return taken - reported;
    }

    /// The sender learns of all that was given back.
    ///
    /// @param inNotice whether by a message of its own
    void report(double arrives, boolean inNotice) {
        if (reported < taken && inNotice) {
            noticed[slot(reported)] = true;
        }
        for (; reported < taken; reported++) {
            returned[slot(reported)] = arrives;
        }
        wakeSender();
    }

    /// The sender learns that the receiver's buffer is its own in a call.
    void ready(long call, double arrives) {
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
