package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndWindow;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.LocalWindow;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Memory windows, bound by the peer and used from here.
class MemoryWindowTest extends ContractCase {
    private static final Set<AccessFlag> READ_WRITE = Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    /// The access rights that a region needs for writable windows.
    private static final Set<AccessFlag> BINDABLE = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.WINDOW_BIND);

    private boolean missing(MemoryWindowType type) {
        Capability capability =
                type == MemoryWindowType.TYPE_1 ? Capability.MEMORY_WINDOW_TYPE_1 : Capability.MEMORY_WINDOW_TYPE_2;
        if (can(capability)) {
            return false;
        }
        assertThatThrownBy(() -> here().window(type)).isInstanceOf(UnsupportedVerbException.class);
        return true;
    }

    private static RemoteMemory through(EndWindow window, EndMemory region, long offset, long length) {
        return new RemoteMemory(region.address() + offset, length, window.key());
    }

    private void write(Pair pair, RemoteMemory to, EndMemory source, WorkStatus status) {
        pair.here().post(Work.write(1, to, source.piece(0, to.length())));
        assertThat(pair.here().one().status()).isEqualTo(status);
    }

    @Test
    void aWindowOfType1OpensAPartOfARegion() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = there().allocate(4096, BINDABLE);
        EndMemory source = here().allocate(64, everything());
        source.write(0, pattern(64, 1));
        EndWindow window = there().window(MemoryWindowType.TYPE_1);
        Pair pair = connected();
        int before = window.key();
        pair.there().bind(1, window, region, 100, 64, READ_WRITE);
        good(pair.there().one(), 1, CompletionOpcode.BIND_WINDOW);
        assertThat(window.key()).isNotEqualTo(before);

        write(pair, through(window, region, 100, 64), source, WorkStatus.SUCCESS);
        assertThat(region.read(100, 64)).isEqualTo(pattern(64, 1));
        pair.here().post(Work.read(2, through(window, region, 132, 32), source.piece(0, 32)));
        good(pair.here().one(), 2, CompletionOpcode.READ);
        assertThat(source.read(0, 32)).isEqualTo(region.read(132, 32));

        // Every queue pair of the protection domain may use it.
        Pair other = connected();
        write(other, through(window, region, 100, 8), source, WorkStatus.SUCCESS);
        WorkStatus outside =
                has(window, Deviation.WINDOW_HAS_NO_BOUNDS) ? WorkStatus.SUCCESS : WorkStatus.REMOTE_ACCESS_ERROR;
        write(other, through(window, region, 99, 8), source, outside);
        write(connected(), through(window, region, 157, 8), source, outside);
        write(connected(), through(window, region, 4090, 8), source, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aWindowGrantsOnlyTheRightsOfItsBinding() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = there().allocate(64, BINDABLE);
        EndMemory local = here().allocate(64, everything());
        EndWindow window = there().window(MemoryWindowType.TYPE_1);
        Pair pair = connected();
        pair.there().bind(1, window, region, 0, 64, Set.of(AccessFlag.REMOTE_READ));
        good(pair.there().one(), 1, CompletionOpcode.BIND_WINDOW);
        pair.here().post(Work.read(2, through(window, region, 0, 8), local.piece(0, 8)));
        good(pair.here().one(), 2, CompletionOpcode.READ);
        write(pair, through(window, region, 0, 8), local, WorkStatus.REMOTE_ACCESS_ERROR);
        // The region's own key grants no access.
        write(connected(), region.remote().slice(0, 8), local, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aWindowOfType1IsReboundAndUnbound() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = there().allocate(4096, BINDABLE);
        EndMemory source = here().allocate(64, everything());
        EndWindow window = there().window(MemoryWindowType.TYPE_1);
        Pair pair = connected();
        pair.there().bind(1, window, region, 0, 64, READ_WRITE);
        pair.there().one();
        RemoteMemory first = through(window, region, 0, 8);
        pair.there().bind(2, window, region, 64, 64, READ_WRITE);
        good(pair.there().one(), 2, CompletionOpcode.BIND_WINDOW);
        write(pair, through(window, region, 64, 8), source, WorkStatus.SUCCESS);
        write(pair, first, source, WorkStatus.REMOTE_ACCESS_ERROR);

        Pair next = connected();
        next.there().bind(3, window, region, 0, 0, Set.of());
        good(next.there().one(), 3, CompletionOpcode.BIND_WINDOW);
        write(next, through(window, region, 64, 8), source, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void rejectsARegionWithoutTheRightToBind() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = here().allocate(64, Set.of(AccessFlag.LOCAL_WRITE));
        EndWindow window = here().window(MemoryWindowType.TYPE_1);
        LocalQueue queue = connected().here();
        int before = window.key();
        try {
            queue.bind(1, window, region, 0, 64, READ_WRITE);
            failed(queue.one(), 1, WorkStatus.WINDOW_BIND_ERROR);
        } catch (VerbException rejected) {
            assertThat(rejected.errno()).isIn(Errno.EINVAL, Errno.EPERM);
        }
        assertThat(window.key()).as("the key is unchanged").isEqualTo(before);
    }

    @Test
    void aWritableWindowNeedsALocallyWritableRegion() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = here().allocate(64, Set.of(AccessFlag.WINDOW_BIND));
        EndWindow window = here().window(MemoryWindowType.TYPE_1);
        LocalQueue queue = connected().here();
        try {
            queue.bind(1, window, region, 0, 64, READ_WRITE);
            failed(queue.one(), 1, WorkStatus.WINDOW_BIND_ERROR);
        } catch (VerbException rejected) {
            assertThat(rejected.errno()).isIn(Errno.EINVAL, Errno.EPERM);
        }
    }

    @Test
    void rejectsAWindowOfAnotherProtectionDomain() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        LocalQueue queue = connected().here();
        LocalWindow window = here().window(MemoryWindowType.TYPE_1);
        LocalMemory foreign = here().allocateInOtherDomain(64, everything());
        assertThatThrownBy(() -> queue.bind(1, window, foreign, 0, 64, READ_WRITE))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EPERM));
    }

    @Test
    void aRegionWithABoundWindowCannotBeClosed() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = here().allocate(64, BINDABLE);
        EndWindow window = here().window(MemoryWindowType.TYPE_1);
        LocalQueue queue = connected().here();
        queue.bind(1, window, region, 0, 64, READ_WRITE);
        queue.one();
        assertThatThrownBy(region::close)
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EBUSY));
        window.close();
        region.close();
    }

    @Test
    void aClosedWindowIsNoLongerOpen() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = there().allocate(64, BINDABLE);
        EndMemory source = here().allocate(64, everything());
        EndWindow window = there().window(MemoryWindowType.TYPE_1);
        Pair pair = connected();
        pair.there().bind(1, window, region, 0, 64, READ_WRITE);
        pair.there().one();
        RemoteMemory stale = through(window, region, 0, 8);
        window.close();
        write(pair, stale, source, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aWindowOfType2BelongsToItsQueuePairUntilItIsInvalidated() {
        if (missing(MemoryWindowType.TYPE_2)) {
            return;
        }
        EndMemory region = there().allocate(4096, BINDABLE);
        EndMemory source = here().allocate(64, everything());
        EndWindow window = there().window(MemoryWindowType.TYPE_2);
        Pair pair = connected();
        Pair other = connected();
        int key = MemoryWindow.nextKey(window.key());
        pair.there().postBind(1, window, key, region, 0, 64, READ_WRITE);
        good(pair.there().one(), 1, CompletionOpcode.BIND_WINDOW);
        RemoteMemory bound = new RemoteMemory(region.address(), 8, key);
        write(pair, bound, source, WorkStatus.SUCCESS);
        write(other, bound, source, WorkStatus.REMOTE_ACCESS_ERROR);

        pair.there().post(Work.localInvalidate(2, key));
        good(pair.there().one(), 2, CompletionOpcode.LOCAL_INVALIDATE);
        write(pair, bound, source, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Tag("slow") // on rxe, the failed binding takes most of a minute to complete
    @Test
    void aWindowOfType2IsBoundOnceUntilItIsInvalidated() {
        if (missing(MemoryWindowType.TYPE_2)) {
            return;
        }
        EndMemory region = here().allocate(4096, BINDABLE);
        EndWindow window = here().window(MemoryWindowType.TYPE_2);
        LocalQueue queue = connected().here();
        int key = MemoryWindow.nextKey(window.key());
        queue.postBind(1, window, key, region, 0, 64, READ_WRITE);
        good(queue.one(), 1, CompletionOpcode.BIND_WINDOW);
        queue.post(Work.localInvalidate(2, key));
        good(queue.one(), 2, CompletionOpcode.LOCAL_INVALIDATE);
        int next = MemoryWindow.nextKey(key);
        queue.postBind(3, window, next, region, 64, 64, READ_WRITE);
        good(queue.one(), 3, CompletionOpcode.BIND_WINDOW);
        queue.postBind(4, window, MemoryWindow.nextKey(next), region, 0, 64, READ_WRITE);
        failed(queue.one(), 4, WorkStatus.WINDOW_BIND_ERROR);
    }

    private void told(Outcome received, int key) {
        if (has(there(), Deviation.INVALIDATED_KEY_IS_NOT_TOLD)) {
            assertThat(received.invalidated()).isNull();
        } else {
            assertThat(received.invalidated()).isEqualTo(key);
        }
    }

    @Test
    void thePeerInvalidatesAWindowWithASend() {
        if (missing(MemoryWindowType.TYPE_2) || !can(Capability.SEND_WITH_INVALIDATE)) {
            return;
        }
        EndMemory region = there().allocate(4096, BINDABLE);
        EndMemory source = here().allocate(64, everything());
        EndWindow window = there().window(MemoryWindowType.TYPE_2);
        Pair pair = connected();
        int key = MemoryWindow.nextKey(window.key());
        pair.there().postBind(1, window, key, region, 0, 64, READ_WRITE);
        pair.there().one();
        RemoteMemory bound = new RemoteMemory(region.address(), 8, key);
        pair.there().receive(2);
        pair.here().post(Work.write(3, bound, source.piece(0, 8)), Work.sendInvalidate(4, key));
        good(pair.here().one(), 3, CompletionOpcode.WRITE);
        good(pair.here().one(), 4, CompletionOpcode.SEND);
        Outcome received = good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
        told(received, key);
        write(pair, bound, source, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aBindingIsExecutedInOrderAndReleasesItsKeyWhenFlushed() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = here().allocate(64, BINDABLE);
        EndWindow window = here().window(MemoryWindowType.TYPE_1);
        Pair pair = connected();
        if (has(Deviation.BINDING_OVERTAKES)) {
            pair.there().receive(3);
        }
        pair.here().post(Work.send(1));
        pair.here().bind(2, window, region, 0, 64, READ_WRITE);
        if (!has(Deviation.BINDING_OVERTAKES)) {
            assertThat(pair.here().collect(1, 50)).as("both wait for a receive").isEmpty();
            pair.there().receive(3);
        }
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        good(pair.here().one(), 2, CompletionOpcode.BIND_WINDOW);
        int key = window.key();
        pair.here().post(Work.send(4));
        pair.here().bind(5, window, region, 0, 32, READ_WRITE);
        pair.here().modify(QueuePairState.ERROR);
        flushed(pair.here().drain(2), 4, 5);
        if (has(Deviation.BINDING_OVERTAKES)) {
            return; // It was executed before it was flushed.
        }
        EndMemory local = there().allocate(8, everything());
        Pair other = connected();
        other.there().post(Work.write(6, new RemoteMemory(region.address() + 48, 8, key), local.piece(0, 8)));
        good(other.there().one(), 6, CompletionOpcode.WRITE);
        assertThat(window.key()).as("the key of the valid binding").isEqualTo(key);
    }

    @Test
    void aSendThatInvalidatesWorksWithASegmentOfTheCaller() {
        if (missing(MemoryWindowType.TYPE_2) || !can(Capability.SEND_WITH_INVALIDATE)) {
            return;
        }
        EndMemory region = there().allocate(4096, BINDABLE);
        EndMemory own = there().register(64, everything());
        EndMemory source = here().allocate(64, everything());
        source.write(0, pattern(64, 5));
        EndWindow window = there().window(MemoryWindowType.TYPE_2);
        Pair pair = connected();
        int key = MemoryWindow.nextKey(window.key());
        pair.there().postBind(1, window, key, region, 0, 64, READ_WRITE);
        pair.there().one();
        pair.there().receive(2, own.piece(0, 64));
        pair.here().post(Work.sendInvalidate(3, key, source.piece(0, 64)));
        good(pair.here().one(), 3, CompletionOpcode.SEND);
        told(good(pair.there().one(), 2, CompletionOpcode.RECEIVE), key);
        assertThat(own.read(0, 64)).isEqualTo(pattern(64, 5));
        write(pair, new RemoteMemory(region.address(), 8, key), source, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aSendThatInvalidatesAnInvalidKeyFails() {
        if (!can(Capability.SEND_WITH_INVALIDATE)) {
            return;
        }
        EndMemory region = there().allocate(64, everything());
        Pair pair = connected();
        pair.there().receive(1);
        pair.here().post(Work.sendInvalidate(2, region.remote().key()));
        if (has(pair.there(), Deviation.REFUSED_INVALIDATION_IS_ACKNOWLEDGED)) {
            good(pair.here().one(), 2, CompletionOpcode.SEND);
            failed(pair.there().one(), 1, WorkStatus.REMOTE_INVALID_REQUEST);
        } else {
            assertThat(pair.here().one().status())
                    .isIn(
                            WorkStatus.REMOTE_INVALID_REQUEST,
                            WorkStatus.REMOTE_ACCESS_ERROR,
                            WorkStatus.REMOTE_OPERATION_ERROR);
        }
        Pair other = connected();
        EndMemory source = here().allocate(8, everything());
        other.here().post(Work.write(3, region.remote(), source.piece(0, 8)));
        good(other.here().one(), 3, CompletionOpcode.WRITE);
    }

    @Test
    void atomicsWorkThroughAWindow() {
        if (missing(MemoryWindowType.TYPE_1)) {
            return;
        }
        EndMemory region = there().allocate(64, BINDABLE);
        EndMemory local = here().allocate(8, everything());
        EndWindow window = there().window(MemoryWindowType.TYPE_1);
        Pair pair = connected();
        region.setLong(8, 40);
        pair.there().bind(1, window, region, 8, 8, Set.of(AccessFlag.REMOTE_ATOMIC));
        pair.there().one();
        pair.here().post(Work.fetchAndAdd(2, through(window, region, 8, 8), 2, local.piece(0, 8)));
        good(pair.here().one(), 2, CompletionOpcode.FETCH_AND_ADD);
        assertThat(region.getLong(8)).isEqualTo(42);
    }
}
