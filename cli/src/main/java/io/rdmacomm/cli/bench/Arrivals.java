package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.MessageHandler;
import io.rdmacomm.comm.RdmaChannel;

/// Counts messages that have arrived, and checks them: the length of each, and all bytes of every one or of
/// the last.
final class Arrivals implements MessageHandler {
    private final long bytes;
    private final long seed;
    private long count;
    private long wrong;
    private long checkFrom = Long.MAX_VALUE;

    Arrivals(long bytes, long seed) {
        this.bytes = bytes;
        this.seed = seed;
    }

    @Override
    public void onMessage(RdmaChannel channel, Message message) {
        count++;
        if (message.length() != bytes || (count >= checkFrom && Pattern.mismatch(message.block(), bytes, seed) >= 0)) {
            wrong++;
        }
    }

    /// From which message on every byte is checked; earlier ones only in length.
    void checkFrom(long number) {
        checkFrom = number;
    }

    /// Messages that have arrived.
    long count() {
        return count;
    }

    /// Messages that were not what was sent.
    long wrong() {
        return wrong;
    }
}
