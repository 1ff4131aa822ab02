package io.rdmacomm.soft.iwarp;

import java.util.Arrays;

/// Numbers the untagged messages of one direction: in each queue from 1, modulo 2^32 (RFC 5041 4.2). Not
/// thread-safe.
public final class MessageNumbers {
    private final int[] next = new int[Opcode.QUEUES];

    /// Nothing was sent yet.
    public MessageNumbers() {
        Arrays.fill(next, 1);
    }

    /// The number of the next message with this opcode.
    public int take(int opcode) {
        return next[Opcode.queue(opcode)]++;
    }

    /// The number that [#take] will give to the next message with this opcode.
    public int upcoming(int opcode) {
        return next[Opcode.queue(opcode)];
    }

    /// Goes back, so that `number` is the next one again: one of our own peers was not ready to receive.
    public void rewind(int opcode, int number) {
        next[Opcode.queue(opcode)] = number;
    }
}
