package io.rdmacomm.tests.contract;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndWindow;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Views of a peer's memory. A device gives all that the rights allow, if it shares memory with the peer, or none.
class DirectViewTest extends ContractCase {
    private static final int SIZE = 3 * 4096;
    private static final Set<AccessFlag> READABLE = EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.DIRECT_VIEW);
    private static final Set<AccessFlag> SHARED =
            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.DIRECT_VIEW);

    private boolean givesViews() {
        return !fabric.provider().equals("ibverbs") && !fabric.farDevice().equals("rxe0") && fabric.sharesMemory();
    }

    private static @Nullable MemorySegment view(QueuePair queuePair, RemoteMemory of) {
        return queuePair.directView(of.address(), of.length(), of.key());
    }

    @Test
    void loadsAndStoresReachTheMemory() {
        QueuePair queuePair = connected().here().queuePair();
        EndMemory memory = there().allocate(SIZE, SHARED);
        memory.fill(3);
        MemorySegment whole = view(queuePair, memory.remote());
        assertThat(whole != null).isEqualTo(givesViews());
        if (whole == null) {
            return;
        }
        assertThat(whole.byteSize()).isEqualTo(SIZE);
        assertThat(whole.isReadOnly()).isFalse();
        assertThat(whole.get(JAVA_LONG, SIZE - 8)).isEqualTo(0x0303030303030303L);
        JAVA_LONG.varHandle().setRelease(whole, 8L, 77L);
        assertThat(memory.getLong(8)).isEqualTo(77);
        memory.setLong(4096, 78);
        assertThat((long) JAVA_LONG.varHandle().getAcquire(whole, 4096L)).isEqualTo(78);

        MemorySegment part = view(queuePair, memory.remote().slice(4096, 8));
        assertThat(part.byteSize()).isEqualTo(8);
        assertThat(part.get(JAVA_LONG, 0)).isEqualTo(78);
        MemorySegment odd = view(queuePair, memory.remote().slice(4097, 3));
        odd.set(JAVA_BYTE, 2, (byte) 9);
        assertThat(memory.read(4099, 1)).containsExactly(9);
        assertThatThrownBy(() -> odd.get(JAVA_BYTE, 3)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void operationsAndViewsSeeTheSameMemory() {
        Pair pair = connected();
        EndMemory memory = there().allocate(SIZE, SHARED);
        MemorySegment view = view(pair.here().queuePair(), memory.remote());
        if (view == null) {
            return;
        }
        var local = here().allocate(64, everything());
        local.setLong(0, 5);
        pair.here().post(Work.write(1, memory.remote(), local.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        assertThat(view.get(JAVA_LONG, 0)).isEqualTo(5);
        view.set(JAVA_LONG, 0, 6);
        pair.here().post(Work.read(2, memory.remote(), local.piece(8, 8)));
        good(pair.here().one(), 2, CompletionOpcode.READ);
        assertThat(local.getLong(8)).isEqualTo(6);
    }

    @Test
    void aPeerThatMayOnlyReadCannotStore() {
        QueuePair queuePair = connected().here().queuePair();
        EndMemory memory = there().allocate(SIZE, READABLE);
        memory.setLong(0, 4);
        MemorySegment view = view(queuePair, memory.remote());
        if (view != null) {
            assertThat(view.get(JAVA_LONG, 0)).isEqualTo(4);
            assertThat(view.isReadOnly()).isTrue();
            assertThatThrownBy(() -> view.set(JAVA_LONG, 0, 5)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void needsARightOfItsOwn() {
        QueuePair queuePair = connected().here().queuePair();
        EndMemory memory = there().allocate(SIZE, everything());
        assertThat(view(queuePair, memory.remote())).isNull();
        assertThatThrownBy(() -> here().allocate(SIZE, EnumSet.of(AccessFlag.DIRECT_VIEW)))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("DIRECT_VIEW requires REMOTE_READ");
    }

    @Test
    void needsTheRightsOfThePeersQueuePair() {
        Pair pair = pair(Spec.usual());
        pair.connect(patient(), patient().withAccessFlags(EnumSet.of(AccessFlag.REMOTE_WRITE)));
        EndMemory memory = there().allocate(SIZE, SHARED);
        assertThat(view(pair.here().queuePair(), memory.remote())).isNull();

        Pair readable = pair(Spec.usual());
        readable.connect(patient(), patient().withAccessFlags(EnumSet.of(AccessFlag.REMOTE_READ)));
        MemorySegment view = view(readable.here().queuePair(), memory.remote());
        assertThat(view == null || view.isReadOnly()).isTrue();
    }

    @Test
    void badRangesAndKeysGiveNone() {
        Pair pair = connected();
        QueuePair queuePair = pair.here().queuePair();
        EndMemory memory = there().allocate(SIZE, SHARED);
        RemoteMemory remote = memory.remote();
        assertThat(queuePair.directView(remote.address(), SIZE + 1, remote.key()))
                .isNull();
        assertThat(queuePair.directView(remote.address() - 1, 8, remote.key())).isNull();
        assertThat(queuePair.directView(remote.address(), Long.MAX_VALUE, remote.key()))
                .isNull();
        assertThat(queuePair.directView(remote.address(), 8, remote.key() ^ 1)).isNull();
        assertThatThrownBy(() -> queuePair.directView(remote.address(), 0, remote.key()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("length of a direct view");
        EndMemory other = there().allocateInOtherDomain(SIZE, SHARED);
        assertThat(view(queuePair, other.remote())).isNull();
        memory.close();
        assertThat(view(queuePair, remote)).isNull();
        assertThat(pair.here().state()).as("no request has failed").isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void onlyMemoryThatTheDeviceAllocatedHasViews() {
        QueuePair queuePair = connected().here().queuePair();
        assertThat(view(queuePair, there().register(SIZE, SHARED).remote())).isNull();
    }

    @Test
    void aWindowHasNone() {
        if (!can(there(), Capability.MEMORY_WINDOW_TYPE_1)) {
            return;
        }
        Pair pair = connected();
        Set<AccessFlag> rights = EnumSet.copyOf(SHARED);
        rights.add(AccessFlag.WINDOW_BIND);
        EndMemory memory = there().allocate(SIZE, rights);
        EndWindow window = there().window(MemoryWindowType.TYPE_1);
        pair.there().bind(1, window, memory, 0, 4096, EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        good(pair.there().one(), 1, CompletionOpcode.BIND_WINDOW);
        assertThat(pair.here().queuePair().directView(memory.address(), 4096, window.key()))
                .isNull();
    }

    @Test
    void outlivesTheRegionAndEndsWithTheQueuePair() {
        Pair pair = connected();
        EndMemory memory = there().allocate(SIZE, SHARED);
        memory.setLong(0, 11);
        MemorySegment view = view(pair.here().queuePair(), memory.remote());
        if (view == null) {
            return;
        }
        memory.close();
        assertThat(view.get(JAVA_LONG, 0)).isEqualTo(11);
        view.fill((byte) 1);
        EndMemory next = there().allocate(SIZE, SHARED);
        assertThat(next.getLong(0)).as("other memory").isZero();

        pair.here().modify(QueuePairState.ERROR);
        assertThat(view(pair.here().queuePair(), next.remote())).isNull();
        assertThat(view.get(JAVA_BYTE, 0)).isEqualTo((byte) 1);
        pair.here().close();
        assertThatThrownBy(() -> view.get(JAVA_LONG, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> view(pair.here().queuePair(), next.remote()))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aQueuePairThatIsNotConnectedHasNone() {
        Pair pair = pair(Spec.usual());
        EndMemory memory = there().allocate(SIZE, SHARED);
        assertThat(view(pair.here().queuePair(), memory.remote())).isNull();
        pair.here().initialize(ConnectionOptions.defaults());
        assertThat(view(pair.here().queuePair(), memory.remote())).isNull();
    }
}
