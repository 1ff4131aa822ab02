package io.rdmacomm.tests.steps;

import io.rdmacomm.tests.fixture.End;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.LocalSharedReceives;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The two ends of a case: a queue pair with memory in either process. `here` survives.
final class StepPair implements AutoCloseable {
    /// How long the doomed process waits for what does not come.
    static final long CHILD_MILLIS = 2_000;
    /// How many receives the survivor posts.
    static final int RECEIVES = 4;
    /// The bytes of the survivor's memory at first, and of what it sends.
    static final byte OURS = 0x5a;
    /// The bytes that the doomed process sends.
    static final byte THEIRS = 0x11;

    /// The completion queue has room for all receives, so those of a queue pair have lines.
    private static final Spec SPEC = Spec.usual().withDepth(64, RECEIVES).withCompletions(10);
    private static final int SHORT_BYTES = 40;
    private static final int GUARD = 64;
    private static final int TARGET = RECEIVES;
    private static final int READABLE = RECEIVES + 1;
    private static final int NUMBER = RECEIVES + 2;
    private static final int SINK = RECEIVES + 3;
    private static final int RESULT = RECEIVES + 4;
    private static final int SLOTS = RECEIVES + 5;
    private static final int RESIZES = 6;

    private final PeerAction action;
    private final boolean sharesMemory;
    private final int bytes;
    private final LocalQueue here;
    private final EndQueue there;
    private final QueuePairInfo thereInfo;
    private final LocalMemory ours;
    private final EndMemory theirs;
    private final @Nullable LocalSharedReceives shared;
    private int resizes;

    StepPair(PeerAction action, boolean sharesMemory, LocalEnd hereEnd, End thereEnd) {
        this.action = action;
        this.sharesMemory = sharesMemory;
        boolean isShort = action.has(PeerAction.Trait.SHORT);
        this.bytes = isShort ? SHORT_BYTES : sharesMemory ? 96 : 40_000;
        Set<AccessFlag> all = AccessFlag.allRemote();
        Set<AccessFlag> rights = isShort ? Set.of(AccessFlag.LOCAL_WRITE) : all;
        this.shared = action.has(PeerAction.Trait.SHARED_RECEIVES) ? hereEnd.sharedReceives(RECEIVES, 1) : null;
        this.here = shared == null ? hereEnd.queue(SPEC) : hereEnd.queueOn(shared, SPEC);
        this.ours = action.has(PeerAction.Trait.REGISTERED_HERE)
                ? hereEnd.register(at(SLOTS), rights)
                : hereEnd.allocate(at(SLOTS), rights);
        ours.fill(OURS);
        this.there = thereEnd.queue(SPEC);
        this.thereInfo = there.info();
        this.theirs = action.has(PeerAction.Trait.REGISTERED_THERE)
                ? thereEnd.register(2L * bytes, all)
                : thereEnd.allocate(2L * bytes, all);
        theirs.fill(THEIRS);
        if (action.has(PeerAction.Trait.UNCONNECTED)) {
            here.connect(thereInfo, soon());
        } else {
            // Patient, so that the end of the peer ends the work, and not a timeout.
            here.connect(thereInfo, ConnectionOptions.defaults().withTimeout(ChronoUnit.FOREVER.getDuration(), 7));
            connectThere();
            here.post(Work.write(0, new RemoteMemory(0, 0, 0)));
            if (here.one().status() != WorkStatus.SUCCESS) {
                throw new AssertionError("not connected");
            }
        }
        action.prepare(this);
    }

    /// For a peer that is going to be gone.
    private static ConnectionOptions soon() {
        return ConnectionOptions.defaults().withTimeout(Duration.ofMillis(67), 3);
    }

    private long at(int slot) {
        return (long) slot * (bytes + GUARD);
    }

    LocalQueue here() {
        return here;
    }

    EndQueue there() {
        return there;
    }

    /// Also when its process is stopped.
    QueuePairInfo thereInfo() {
        return thereInfo;
    }

    EndMemory theirs() {
        return theirs;
    }

    LocalMemory ours() {
        return ours;
    }

    @Nullable
    LocalSharedReceives shared() {
        return shared;
    }

    int bytes() {
        return bytes;
    }

    // ---- For the actions ----

    void connectThere() {
        there.connect(here.info(), soon());
    }

    /// Has the doomed process post these, and wait for them unless they are done when they are posted.
    void post(Work... works) {
        if (!sharesMemory || action.has(PeerAction.Trait.REGISTERED_HERE)) {
            there.post(works);
            there.collect(works.length, CHILD_MILLIS);
        } else {
            // Its own completions concern nobody else.
            there.postAll(Arrays.stream(works).map(Work::silent).toList());
        }
    }

    /// What the doomed process sends.
    Piece source() {
        return theirs.piece(0, bytes);
    }

    Piece firstHalf() {
        return theirs.piece(0, bytes / 2);
    }

    Piece secondHalf() {
        return theirs.piece(bytes / 2, bytes - bytes / 2);
    }

    /// Where it puts what it receives.
    Piece sink() {
        return theirs.piece(bytes, bytes);
    }

    /// Where it puts the old value of a number.
    Piece result() {
        return theirs.piece(bytes, 8);
    }

    RemoteMemory target() {
        return ours.remote().slice(at(TARGET), bytes);
    }

    RemoteMemory readable() {
        return ours.remote().slice(at(READABLE), bytes);
    }

    RemoteMemory number() {
        return ours.remote().slice(at(NUMBER), 8);
    }

    /// Messages of the survivor.
    List<Work> sends(int count) {
        List<Work> works = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            works.add(Work.send(0, ours.piece(at(READABLE), bytes)));
        }
        return works;
    }

    /// One request of each kind of the survivor.
    List<Work> everything() {
        return List.of(
                Work.write(0, theirs.remote().slice(bytes, bytes), ours.piece(at(READABLE), bytes)),
                Work.read(0, theirs.remote().slice(0, bytes), ours.piece(at(SINK), bytes)),
                Work.fetchAndAdd(0, theirs.remote().slice(bytes, 8), 1, ours.piece(at(RESULT), 8)),
                Work.send(0, ours.piece(at(READABLE), bytes)));
    }

    /// Resizes the survivor's completion queue, a few times.
    void resize() {
        if (resizes < RESIZES) {
            resizes++;
            here.resize(resizes % 2 == 0 ? 10 : 20);
        }
    }

    /// Resizes the survivor's shared receive queue, a few times.
    void growReceives() {
        if (resizes < RESIZES) {
            resizes++;
            Objects.requireNonNull(shared).resize(resizes % 2 == 0 ? RECEIVES : RECEIVES << resizes);
        }
    }

    /// The memory of a receive.
    Piece slot(int receive) {
        return ours.piece(at(receive), bytes);
    }

    // ---- What must have happened to the survivor's memory ----

    void checkReceived(int receive) {
        checkAll(at(receive), THEIRS, "a received message");
    }

    void checkWritten() {
        checkAll(at(TARGET), THEIRS, "what was written before its immediate data");
    }

    void checkRead() {
        checkAll(at(SINK), THEIRS, "what was read");
    }

    private void checkAll(long from, byte value, String what) {
        byte[] found = ours.read(from, bytes);
        for (int i = 0; i < bytes; i++) {
            if (found[i] != value) {
                throw new AssertionError(what + " has 0x" + Integer.toHexString(found[i]) + " at " + i);
            }
        }
    }

    /// Checks that nothing has changed but what may have.
    void checkMemory() {
        byte[] all = ours.read(0, (int) at(SLOTS));
        for (int i = 0; i < all.length; i++) {
            int slot = i / (bytes + GUARD);
            int offset = i - (int) at(slot);
            boolean mayChange = offset < bytes
                    && switch (slot) {
                        case READABLE -> false;
                        case NUMBER -> offset < 8;
                        case RESULT -> offset < 8;
                        default -> true;
                    };
            boolean isNumber = slot == NUMBER || slot == RESULT;
            if (all[i] != OURS && !(mayChange && (isNumber || all[i] == THEIRS))) {
                throw new AssertionError("memory has changed in slot " + slot + " at " + offset + ": 0x"
                        + Integer.toHexString(all[i] & 0xff));
            }
        }
        long number = ours.getLong(at(NUMBER));
        if (number != 0x5a5a5a5a5a5a5a5aL && number != 0x5a5a5a5a5a5a5a5bL) {
            throw new AssertionError("the number has become 0x" + Long.toHexString(number));
        }
    }

    /// Closes the survivor's objects.
    @Override
    public void close() {
        long start = System.nanoTime();
        here.close();
        if (shared != null) {
            shared.close();
        }
        ours.close();
        if (System.nanoTime() - start > Duration.ofSeconds(10).toNanos()) {
            throw new AssertionError("closing took " + (System.nanoTime() - start) / 1_000_000 + " ms");
        }
    }

    /// Closes the objects of the other process.
    void closeThere() {
        there.close();
        theirs.close();
    }
}
