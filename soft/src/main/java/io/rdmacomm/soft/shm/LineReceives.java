package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.LineWriter;

/// Receives that only this side completes, in the [lines][io.rdmacomm.soft.mapped.ReceiveLines] of the peer's queue
/// pair.
final class LineReceives implements PeerReceives {
    private final LineWriter lines;
    private final CompletionProducer completions;
    private final PeerQueuePair peer;

    LineReceives(LineWriter lines, CompletionProducer completions, PeerQueuePair peer) {
        this.lines = lines;
        this.completions = completions;
        this.peer = peer;
    }

    @Override
    public long oldest() {
        return lines.oldest();
    }

    @Override
    public long workId(long position) {
        return 0;
    }

    @Override
    public boolean isKnown(long position) {
        return lines.isKnown(position);
    }

    @Override
    public boolean takesPayload(long position, long bytes) {
        return lines.takesPayload(position, bytes);
    }

    @Override
    public long payload(long position) {
        return lines.payload(position);
    }

    @Override
    public boolean take(long position, long workId) {
        return lines.claim(position);
    }

    /// If the peer stops receiving now, it does not look at the line.
    @Override
    public boolean takeWithoutMemory(long position, long workId) {
        return true;
    }

    /// A peer that has failed waits until this side executes nothing, and then flushes its receives itself.
    @Override
    public boolean mayComplete() {
        return peer.isReady();
    }

    @Override
    public long complete(CompletionFields fields, boolean payloadIsPlaced) {
        lines.publish(fields, payloadIsPlaced);
        return completions.disarmFor(fields.wakesSolicited());
    }

    @Override
    public boolean hasArrived() {
        return peer.isReady() || !lines.areAbandoned();
    }

    @Override
    public void giveUp() {
        // The peer ends it.
    }
}
