package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.bench.trial.ClockCost;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.VerbsEnd;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;

/// The queue pair of one end. Repeats one request, and counts completions. For one thread.
final class PerftestPair implements AutoCloseable {
    private static final int RECEIVES = 512;
    private static final int MOST_READS = 128;
    private static final int POLLED = 16;

    private final Context context;
    private final PerftestSettings settings;
    private final PathMtu mtu;
    private final int depth;
    private final int reads;
    private final VerbsEnd end;
    private final SendBatch request;
    private final ReceiveBatch receives;
    private final Completions completions;
    private long posted;
    private long completed;
    private long received;
    private long receivesPosted;
    private int idle;
    private long lastProgress;
    private long deadline;

    /// Creates a queue pair that is not connected.
    ///
    /// @param page the size of the memory for incoming data, if the messages are shorter
    PerftestPair(Context context, PerftestSettings settings, int page, PathMtu mtu) {
        PerftestProgram program = settings.program();
        this.context = context;
        this.settings = settings;
        this.mtu = mtu;
        this.depth = Math.min(settings.depth(), settings.iterations());
        this.reads = program.operation() == PerftestProgram.Operation.READ
                        || program.operation() == PerftestProgram.Operation.ATOMIC
                ? Math.clamp(context.limit(DeviceLimit.MAX_READ_ATOMIC), 1, MOST_READS)
                : 1;
        int slots =
                program.operation() == PerftestProgram.Operation.SEND ? Math.min(RECEIVES, settings.iterations()) : 1;
        this.end = new VerbsEnd(
                context,
                QueuePairType.RELIABLE_CONNECTED,
                new QueueSizes(depth, slots, 1, 1, 0),
                0,
                settings.bytes(),
                Math.max(page, settings.bytes()),
                program.access());
        this.request = SendBatch.create(end.arena(), 1, 1);
        this.receives = ReceiveBatch.create(end.arena(), slots, 1);
        this.completions = Completions.create(end.arena(), POLLED);
    }

    /// The numbers that the peer needs.
    PerftestKey key() {
        QueuePairInfo info = end.queuePair().info(settings.connection().path());
        return new PerftestKey(
                info.lid(),
                reads,
                info.number(),
                info.packetSequenceNumber(),
                end.incoming().remoteKey(),
                end.incoming().address(),
                PeerNumbers.needGid(context, settings.connection().path()) ? info.gid() : Gid.NONE);
    }

    /// Connects to the queue pair of the peer.
    ///
    /// @param from the host that sent the key
    void connect(PerftestKey peer, InetAddress from) {
        QueuePairInfo remote =
                new QueuePairInfo(peer.number(), peer.packetSequenceNumber(), peer.lid(), peer.gid(), mtu);
        ConnectionOptions how = settings.connection();
        PeerNumbers.check(remote, context, how.path(), from, settings.program().label() + " with -x INDEX");
        end.connect(
                remote,
                how.withPath(how.path().withMtu(mtu))
                        .withAccessFlags(settings.program().access())
                        .withReadAtomic(Math.clamp(peer.reads(), 1, MOST_READS), reads),
                () -> {});
        prepare(peer);
    }

    private void prepare(PerftestKey peer) {
        MemoryRegion incoming = end.incoming();
        switch (settings.program().operation()) {
            case SEND -> request.send(0).with(end.outgoing(), 0, settings.bytes());
            case WRITE -> request.write(0, peer.address(), peer.remoteKey()).with(end.outgoing(), 0, settings.bytes());
            case READ -> request.read(0, peer.address(), peer.remoteKey()).with(incoming, 0, settings.bytes());
            case ATOMIC ->
                request.fetchAndAdd(0, peer.address(), peer.remoteKey(), 1).with(incoming, 0, Long.BYTES);
        }
        request.signaled();
    }

    /// The memory with the data of this end's requests.
    MemorySegment outgoing() {
        return end.outgoing().segment();
    }

    /// The memory for incoming data.
    MemorySegment incoming() {
        return end.incoming().segment();
    }

    /// Posts as many receives as fit, at most one for each message of the test.
    void postReceives() {
        long free = receives.capacity() - (receivesPosted - received);
        int count = (int) Math.min(free, settings.iterations() - receivesPosted);
        receives.clear();
        for (int i = 0; i < count; i++) {
            receives.receive(0).with(end.incoming(), 0, end.incoming().length());
        }
        if (count > 0 && end.queuePair().post(receives) != count) {
            throw new CommandFailure("the receive queue of " + end.queuePair() + " is full");
        }
        receivesPosted += count;
    }

    /// Whether the send queue has room.
    boolean canPost() {
        return posted - completed < depth;
    }

    /// Posts the next request.
    void post() {
        if (end.queuePair().post(request) != 1) {
            throw new CommandFailure("the send queue of " + end.queuePair() + " is full: use a smaller --depth");
        }
        posted++;
    }

    /// The number of completed requests.
    long completed() {
        return completed;
    }

    /// The number of received messages.
    long received() {
        return received;
    }

    /// Takes completions. Yields now and then while there are none: the other end, or the thread of a software
    /// device, may need this processor.
    ///
    /// @throws CommandFailure if a request failed, or nothing happened within the timeout
    @SuppressWarnings("ThreadPriorityCheck") // only speeds up a machine that is too busy to measure anything
    void poll() {
        int count = end.completionQueue().poll(completions);
        for (int i = 0; i < count; i++) {
            checkStatus(i);
            if (completions.isReceive(i)) {
                checkLength(i);
                received++;
            } else {
                completed++;
            }
        }
        if (count == 0 && (++idle & ClockCost.CHECK_MASK) == 0) {
            Thread.yield();
            checkDeadline();
        }
    }

    private void checkStatus(int index) {
        if (!completions.isSuccess(index)) {
            throw new CommandFailure("an operation of " + settings.program().label() + " failed with "
                    + completions.status(index) + ": are -s and the program the same at both ends, and does the"
                    + " GID index name a RoCE v2 address that the other end reaches?");
        }
    }

    private void checkLength(int index) {
        long bytes = completions.byteLength(index);
        if (bytes != settings.bytes()) {
            throw new CommandFailure("the peer sends messages of " + bytes + " bytes, but this end expects "
                    + settings.bytes() + ": use the same -s at both ends");
        }
    }

    private void checkDeadline() {
        long progress = 1 + posted + completed + received;
        long now = System.nanoTime();
        if (progress != lastProgress) {
            lastProgress = progress;
            deadline = now + settings.timeout().toNanos();
        } else if (now - deadline > 0) {
            throw new CommandFailure("nothing arrived within "
                    + settings.timeout().toMillis() + " ms after "
                    + completed + " completed operations and " + received + " received messages: is the peer running,"
                    + " with the same program and -n?");
        }
    }

    @Override
    public void close() {
        end.close();
    }
}
