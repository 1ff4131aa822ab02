package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.MessageHandler;
import io.rdmacomm.comm.RdmaChannel;

/// Counts received messages. Checks the length of every message, and the content of all or only of the last one of
/// a step.
final class MessageCounter implements MessageHandler {
    private final long bytes;
    private final long seed;
    private long count;
    private long corrupt;
    private long checkFrom = Long.MAX_VALUE;

    MessageCounter(long bytes, long seed) {
        this.bytes = bytes;
        this.seed = seed;
    }

    @Override
    public void onMessage(RdmaChannel channel, Message message) {
        count++;
        if (message.length() != bytes
                || (count >= checkFrom && DataPattern.mismatch(message.block(), bytes, seed) >= 0)) {
            corrupt++;
        }
    }

    /// Checks the content of messages from this number on, and only the length of earlier ones.
    void checkFrom(long number) {
        checkFrom = number;
    }

    /// The number of received messages.
    long count() {
        return count;
    }

    /// Describes what is wrong with the messages received so far; empty if they are correct.
    String findCorruption() {
        return corrupt == 0 ? "" : corrupt + " messages differ from what was sent";
    }
}
