package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.verbs.PathMtu;
import org.jspecify.annotations.Nullable;

/// The plan for one connection: one test with one message size.
///
/// @param test the test
/// @param bytes the message size
/// @param queuePairs the number of queue pairs that carry the traffic
/// @param idleQueuePairs the number of additional queue pairs on the same completion queue
/// @param depth the number of operations in flight on each queue pair
/// @param bidirectional whether both sides send at the same time
/// @param seed the seed of the data pattern
/// @param modes the modes in which both sides wait; null if they poll all the time
/// @param service what carries the messages
public record TrialPlan(
        BenchTest test,
        long bytes,
        int queuePairs,
        int idleQueuePairs,
        int depth,
        boolean bidirectional,
        long seed,
        @Nullable Modes modes,
        TransportService service) {
    /// The largest message size.
    static final long MAX_BYTES = 1L << 30;

    /// The largest number of queue pairs of one connection.
    public static final int MAX_QUEUE_PAIRS = 256;

    static final int MAX_DEPTH = 1 << 14;

    public static final int MAX_PORT = 65_535;

    private static final long MAX_MESSAGE = 16L << 20;
    private static final long RING_BYTES = 64L << 20;
    private static final int RING_BUFFERS = 64;
    // So the data in flight stays in the cache of a core, like the single buffer of the other tests.
    private static final long RECEIVE_BYTES = 512L << 10;
    private static final int CHAIN = 32;
    private static final long CHAIN_MAX_BYTES = 4096;

    /// Checks the ranges, because a peer may have sent the values.
    public TrialPlan {
        check(test, "size", bytes, 1, isSend(test) || test.usesSocket() ? MAX_MESSAGE : MAX_BYTES);
        check(test, "number of queue pairs", queuePairs, 1, MAX_QUEUE_PAIRS);
        check(test, "number of idle queue pairs", idleQueuePairs, 0, MAX_QUEUE_PAIRS - queuePairs);
        check(test, "depth", depth, 1, MAX_DEPTH);
        if (!service.allows(test)) {
            throw new CommandFailure(test.label() + " cannot run over " + service.label());
        }
        if (service == TransportService.UD) {
            check(test, "size", bytes, 1, PathMtu.MTU_4096.bytes());
        }
        if (modes != null && !test.hasBlockingForm()) {
            throw new CommandFailure(test.label() + " polls, so it cannot use " + modes);
        }
    }

    /// This plan with another message size.
    public TrialPlan withBytes(long other) {
        return new TrialPlan(test, other, queuePairs, idleQueuePairs, depth, bidirectional, seed, modes, service);
    }

    public static TrialPlan of(Frame<BenchMessage> frame) {
        return new TrialPlan(
                BenchTest.named(frame.text()),
                frame.number(0),
                toInt(frame.number(1)),
                toInt(frame.number(2)),
                toInt(frame.number(3)),
                frame.number(4) != 0,
                frame.number(5),
                Modes.of(frame.number(6)),
                TransportService.of(frame.number(7)));
    }

    public Frame<BenchMessage> toFrame() {
        return Frame.of(
                BenchMessage.TRIAL,
                test.label(),
                bytes,
                queuePairs,
                idleQueuePairs,
                depth,
                bidirectional ? 1 : 0,
                seed,
                Modes.code(modes),
                service.code());
    }

    public int channels() {
        return queuePairs + idleQueuePairs;
    }

    /// The number of buffers of each side: more than one if the test uses a ring.
    public int buffers() {
        return test == BenchTest.WRITE_BW_RING ? Math.clamp(RING_BYTES / stride(), 2, RING_BUFFERS) : 1;
    }

    /// The distance from one buffer to the next: whole cache lines.
    public long stride() {
        return bytes + 63 & ~63L;
    }

    /// The number of operations that share a doorbell: several if they are small, as in a stream of messages.
    public int chainLength() {
        return bytes <= CHAIN_MAX_BYTES ? Math.min(CHAIN, depth) : 1;
    }

    /// The options of the data channel with this index.
    ///
    /// @param proposed the session's options, with how its queue pairs connect
    public ChannelOptions channel(int index, ChannelOptions proposed) {
        if (index >= queuePairs) {
            return proposed.withSendWindow(1).withReceives(1).withMessageBytes(64);
        }
        if (!isSend(test)) {
            return proposed.withSendWindow(depth).withReceives(1).withMessageBytes(64);
        }
        // A stream needs spare receives: the credit for some is in flight while messages arrive in others.
        int fewest = test == BenchTest.SEND_BW ? 16 : 4;
        int receives = Math.clamp(RECEIVE_BYTES / bytes, fewest, Math.max(fewest, depth));
        return proposed.withSendWindow(depth).withReceives(receives).withMessageBytes((int) stride());
    }

    /// Narrows a number. One that is out of range stays out of range.
    private static int toInt(long number) {
        return Math.clamp(number, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /// Whether the messages are SENDs.
    public boolean sends() {
        return isSend(test);
    }

    private static boolean isSend(BenchTest test) {
        return test.answersMessages() || test == BenchTest.SEND_BW;
    }

    private static void check(BenchTest test, String name, long value, long min, long max) {
        if (value < min || value > max) {
            String limit = name.equals("size") ? ByteSize.format(max) : Long.toString(max);
            throw new CommandFailure(
                    name + " " + value + " of " + test.label() + " is out of range: it can be " + min + " to " + limit);
        }
    }
}
