package io.rdmacomm.comm;

/// A channel's counters. Each is written by one thread at a time: those of what goes out under the send
/// lock, the others by the polling thread. They are read without synchronisation.
final class ChannelCounters {
    long operations;
    long completed;
    long failed;
    long bytesOut;
    long bytesRead;
    long messages;
    long notices;
    long bytesIn;
    long windowStalls;
    long creditStalls;
    long creditUpdates;
    long handlerErrors;

    void started(int kind, long bytes) {
        operations++;
        if (kind == Operation.READ) {
            bytesRead += bytes;
        } else if (!Operation.isAtomic(kind)) {
            bytesOut += bytes;
        }
    }

    void arrived(Message message) {
        if (message.isNotice()) {
            notices++;
        } else {
            messages++;
        }
        bytesIn += message.length();
    }

    ChannelStatistics snapshot() {
        return new ChannelStatistics(
                operations,
                completed,
                failed,
                bytesOut,
                bytesRead,
                messages,
                notices,
                bytesIn,
                windowStalls,
                creditStalls,
                creditUpdates,
                handlerErrors);
    }
}
