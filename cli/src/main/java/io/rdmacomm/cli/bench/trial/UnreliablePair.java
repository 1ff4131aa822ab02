package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.VerbsEnd;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.util.Set;

/// One side's queue pair for a test over a transport that can lose messages. Counts the messages. Every message
/// completes a receive of the peer, and carries the number of its step as immediate data; WRITEs too, because
/// otherwise the peer could not tell which were lost. For one thread.
final class UnreliablePair implements AutoCloseable {
    private static final int POLLED = 64;
    private static final int MAX_INLINE = 64;
    private static final int MOST_RECEIVES = 1024;
    private static final int FEWEST_RECEIVES = 16;
    private static final Set<AccessFlag> WRITABLE = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    private static final long RECEIVE_BYTES = 16L << 20;

    private final TrialPlan plan;
    private final ConnectionOptions how;
    private final int headerBytes;
    private final long slotBytes;
    private final int slots;
    private final int depth;
    private final VerbsEnd end;
    private final SendBatch chain;
    private final ReceiveBatch receives;
    private final Completions completions;
    private int step;
    private int inFlight;
    private long sent;
    private long received;
    private long checkFrom;
    private long corrupt;

    /// Creates the queue pair; [#connect] brings it up.
    ///
    /// @param how the port and the GID to use
    UnreliablePair(Context context, TrialPlan plan, ConnectionOptions how) {
        boolean datagrams = plan.service() == TransportService.UD;
        this.plan = plan;
        this.how = how;
        this.headerBytes = datagrams ? GlobalRoutingHeader.BYTES : 0;
        // A WRITE needs no other memory than its target.
        this.slotBytes = plan.sends() ? headerBytes + plan.stride() : 0;
        this.slots = Math.clamp(RECEIVE_BYTES / plan.stride(), FEWEST_RECEIVES, MOST_RECEIVES);
        this.depth = Math.max(FEWEST_RECEIVES, plan.depth());
        this.end = new VerbsEnd(
                context,
                plan.service().type(),
                new QueueSizes(depth, slots, 1, 1, MAX_INLINE),
                0,
                plan.stride(),
                plan.sends() ? slots * slotBytes : plan.stride(),
                plan.sends() ? VerbsEnd.MESSAGES : WRITABLE);
        DataPattern.fill(end.outgoing().segment(), plan.seed());
        this.chain = SendBatch.create(end.arena(), plan.chainLength(), 1);
        this.receives = ReceiveBatch.create(end.arena(), POLLED, 1);
        this.completions = Completions.create(end.arena(), POLLED);
    }

    /// The description of this side for the peer.
    ///
    /// @param text additional text for the peer
    Frame<BenchMessage> address(String text) {
        QueuePairInfo info = end.queuePair().info(how.path());
        return Frame.of(
                BenchMessage.QUEUE_PAIR,
                text,
                info.number(),
                info.packetSequenceNumber(),
                info.lid(),
                info.gid().high(),
                info.gid().low(),
                info.mtu().bytes(),
                end.incoming().segment().address(),
                end.incoming().remoteKey());
    }

    /// Connects the queue pair, with all receives posted.
    ///
    /// @param peer the result of its [#address]
    void connect(Frame<BenchMessage> peer) {
        end.connect(info(peer), how.withAccessFlags(WRITABLE), this::postReceives);
        fill(peer);
    }

    /// The largest packet that the peer wants.
    static PathMtu mtu(Frame<BenchMessage> peer) {
        for (PathMtu mtu : PathMtu.values()) {
            if (mtu.bytes() == peer.number(5)) {
                return mtu;
            }
        }
        throw new CommandFailure("the peer reports an MTU of " + peer.number(5) + " bytes, which does not exist");
    }

    /// The numbers of the peer's queue pair, which [io.rdmacomm.cli.rig.ReceivedNumbers] checks.
    static QueuePairInfo info(Frame<BenchMessage> peer) {
        return new QueuePairInfo(
                Math.toIntExact(peer.number(0)),
                Math.toIntExact(peer.number(1)),
                Math.toIntExact(peer.number(2)),
                new Gid(peer.number(3), peer.number(4)),
                mtu(peer));
    }

    private void postReceives() {
        for (int slot = 0; slot < slots; ) {
            receives.clear();
            for (int end = Math.min(slots, slot + POLLED); slot < end; slot++) {
                addReceive(slot);
            }
            repost();
        }
    }

    private void addReceive(long slot) {
        receives.receive(slot);
        if (plan.sends()) {
            receives.with(end.incoming(), slot * slotBytes, headerBytes + plan.bytes());
        }
    }

    private void repost() {
        if (receives.size() > 0 && end.queuePair().post(receives) != receives.size()) {
            throw new CommandFailure("the receive queue of " + end + " is full");
        }
    }

    /// Prepares identical requests. Only the last one is signaled, with a negative number.
    private void fill(Frame<BenchMessage> peer) {
        chain.clear();
        for (int i = 0; i < plan.chainLength(); i++) {
            if (plan.sends()) {
                chain.sendWithImmediate(0, 0);
            } else {
                chain.writeWithImmediate(0, peer.number(6), (int) peer.number(7), 0);
            }
            chain.with(end.outgoing(), 0, plan.bytes());
            if (plan.bytes() <= MAX_INLINE) {
                chain.inline();
            }
            end.address(chain);
        }
        chain.signaled();
    }

    /// Begins a step. Its number distinguishes its messages from late ones of earlier steps.
    ///
    /// @param unchecked the number of messages for which only the length is checked
    void begin(int number, long unchecked) {
        step = number;
        for (int i = 0; i < plan.chainLength(); i++) {
            chain.immediate(i, number);
        }
        if (!plan.sends()) {
            end.incoming().segment().fill((byte) 0);
        }
        sent = 0;
        received = 0;
        corrupt = 0;
        checkFrom = unchecked;
    }

    TrialPlan plan() {
        return plan;
    }

    /// The number of messages posted in this step.
    long sent() {
        return sent;
    }

    /// The number of messages of this step that have arrived.
    long received() {
        return received;
    }

    /// The number of posted messages that have not completed.
    int inFlight() {
        return inFlight;
    }

    /// The largest number of messages in flight.
    int depth() {
        return depth;
    }

    /// Posts `count` messages, at most the chain length.
    void post(int count) {
        int first = plan.chainLength() - count;
        chain.workId(plan.chainLength() - 1, -count);
        if (end.queuePair().post(chain, first, count) != count) {
            throw new CommandFailure("the send queue of " + end + " is full");
        }
        inFlight += count;
        sent += count;
    }

    /// Takes completions, and posts the receives that they free.
    ///
    /// @return whether there were any
    boolean poll() {
        int count = end.completionQueue().poll(completions);
        if (count == 0) {
            return false;
        }
        receives.clear();
        for (int i = 0; i < count; i++) {
            if (!completions.isSuccess(i)) {
                throw new CommandFailure("an operation of " + plan.test().label() + " over "
                        + plan.service().label() + " failed: " + completions.status(i));
            }
            long workId = completions.workId(i);
            if (workId < 0) {
                inFlight += (int) workId;
            } else {
                arrived(i, workId);
                addReceive(workId);
            }
        }
        repost();
        return true;
    }

    private void arrived(int index, long slot) {
        if (!completions.hasImmediate(index) || completions.immediate(index) != step) {
            return; // of an earlier step, in which it counts as lost
        }
        received++;
        if (plan.sends()
                && (completions.byteLength(index) != headerBytes + plan.bytes()
                        || (received > checkFrom && differs(slot * slotBytes + headerBytes)))) {
            corrupt++;
        }
    }

    private boolean differs(long at) {
        return DataPattern.mismatch(end.incoming().segment().asSlice(at, plan.bytes()), plan.bytes(), plan.seed()) >= 0;
    }

    /// Checks the data that has arrived in this step.
    ///
    /// @throws CommandFailure if it differs from what was sent
    void verify() {
        if (corrupt > 0 || (!plan.sends() && received > 0 && differs(0))) {
            throw new CommandFailure(plan.test().label() + " of " + plan.bytes() + " bytes over "
                    + plan.service().label() + ": data differs from what was sent");
        }
    }

    @Override
    public void close() {
        end.close();
    }
}
