package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Registration, keys, allocated memory, reregistration, and closing a region that is in use.
class MemoryRegionTest extends ContractCase {
    /// The bytes in flight when a region is closed: more than one frame.
    private static final int LARGE = Amount.onLine(1 << 20, 1 << 17);

    @Test
    void allocatedMemoryIsZeroPageAlignedAndOfTheRequestedLength() {
        for (long bytes : new long[] {1, 7, 4095, 4096, 4097, 3_000_001}) {
            try (MemoryRegion region = here().domain().allocate(bytes, everything())) {
                assertThat(region.length()).isEqualTo(bytes);
                assertThat(region.segment().byteSize()).isEqualTo(bytes);
                assertThat(region.address()).isEqualTo(region.segment().address());
                assertThat(region.address() % 4096).isZero();
                assertThat(region.segment().get(ValueLayout.JAVA_BYTE, bytes - 1))
                        .isZero();
                assertThat(region.access()).isEqualTo(everything());
            }
        }
    }

    @Test
    void hugePagesAreGivenOrRejectedWithAdvice() throws IOException {
        if (!can(Capability.HUGE_PAGES)) {
            assertThatThrownBy(() -> here().domain().allocate(LARGE, everything(), PageSize.HUGE))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll(here().context().device().name(), "HUGE_PAGES", "PageSize.NORMAL");
            return;
        }
        assertThatThrownBy(() -> here().domain().allocate(1L << 44, everything(), PageSize.HUGE))
                .isInstanceOf(VerbException.class)
                .hasMessageContainingAll("ENOMEM", "sysctl vm.nr_hugepages=", "PageSize.NORMAL");
        long bytes = 3_000_000;
        try (MemoryRegion region = here().domain().allocate(bytes, everything(), PageSize.HUGE)) {
            assertThat(kibibytesInHugePages(region.address())).isPositive();
            assertThat(region.length()).isEqualTo(bytes);
            LocalMemory mine = new LocalMemory(region);
            EndMemory theirs = there().allocate(LARGE, everything());
            theirs.write(0, pattern(LARGE, 9));
            Pair pair = connected();
            pair.here().post(Work.read(1, theirs.remote(), mine.piece(bytes - LARGE, LARGE)));
            good(pair.here().one(), 1, CompletionOpcode.READ);
            assertThat(mine.read(bytes - LARGE, LARGE)).isEqualTo(pattern(LARGE, 9));
        } catch (VerbException none) {
            // Only the lab is known to have some.
            assertThat(none.getMessage()).contains("are free; reserve more with `sysctl vm.nr_hugepages=");
            assertThat(System.getenv("LAB")).as(none.getMessage()).isNull();
        }
        assertThat(here().domain().allocate(64, everything()).segment().get(ValueLayout.JAVA_LONG, 0))
                .isZero();
    }

    /// The part of the mapping at an address that is in huge pages (proc_pid_smaps(5)).
    private static long kibibytesInHugePages(long address) throws IOException {
        boolean found = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                found = line.startsWith(Long.toHexString(address) + "-");
            } else if (found && line.startsWith("Private_Hugetlb:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        return 0;
    }

    @Test
    void memoryOnDemandIsUsedWithoutBeingLocked() {
        Set<AccessFlag> rights = new HashSet<>(everything());
        rights.add(AccessFlag.ON_DEMAND);
        if (!can(Capability.ON_DEMAND_PAGING)) {
            assertThatThrownBy(() -> here().register(LARGE, rights))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll("ON_DEMAND_PAGING", "without ON_DEMAND");
            return;
        }
        EndMemory mine = here().register(LARGE, rights);
        EndMemory theirs = there().register(LARGE, rights);
        mine.write(0, pattern(LARGE, 4));
        Pair pair = connected();
        pair.there().receive(1, theirs.piece(0, LARGE));
        pair.here().post(Work.send(2, mine.piece(0, LARGE)));
        good(pair.there().one(), 1, CompletionOpcode.RECEIVE);
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        assertThat(theirs.read(0, LARGE)).isEqualTo(pattern(LARGE, 4));
    }

    /// No device of the lab can do it.
    @Test
    void dmaBuffersAreRejectedWhereThereAreNone() {
        ThrowingCallable registration = () -> here().domain().registerDmaBuffer(999_999, 0, 4096, 0, Set.of());
        if (can(Capability.DMA_BUFFER)) {
            assertThatThrownBy(registration).hasMessageContaining("EBADF");
        } else {
            assertThatThrownBy(registration)
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll(here().context().device().name(), "DMA_BUFFER");
        }
    }

    @Test
    void keysAreUniqueAndNotReusedSoon() {
        Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            MemoryRegion region = here().domain().allocate(64, everything());
            assertThat(keys.add(region.remoteKey())).as("key of region %d", i).isTrue();
            if (i % 2 == 0) {
                region.close();
            }
        }
    }

    @Test
    void aClosedRegionNamesItself() {
        MemoryRegion region = here().domain().allocate(64, everything());
        region.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> region.reregister(null, null, everything()))
                .withMessageContaining("memory region 0x")
                .withMessageContaining("is closed");
    }

    @Test
    void memoryOfAClosedRegionCannotBeAccessed() {
        MemoryRegion region = here().domain().allocate(64, everything());
        MemorySegment memory = region.segment();
        region.close();
        assertThatIllegalStateException().isThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void theSegmentOfACallerWorksForEveryOperation() {
        for (Way way : bothWays(connected())) {
            EndMemory mine = way.from().register(4096, everything());
            EndMemory theirs = way.to().register(4096, everything());
            mine.write(0, pattern(4096, 3));
            way.target().receive(1, theirs.piece(0, 100));
            way.source().post(Work.send(2, mine.piece(0, 100)));
            good(way.source().one(), 2, CompletionOpcode.SEND);
            good(way.target().one(), 1, CompletionOpcode.RECEIVE);
            way.source().post(Work.write(3, theirs.remote().slice(100, 900), mine.piece(100, 900)));
            good(way.source().one(), 3, CompletionOpcode.WRITE);
            arrived(theirs, 0, pattern(1000, 3));
            mine.fill(0);
            way.source().post(Work.read(4, theirs.remote().slice(0, 1000), mine.piece(8, 1000)));
            good(way.source().one(), 4, CompletionOpcode.READ);
            assertThat(mine.read(8, 1000)).isEqualTo(pattern(1000, 3));
            theirs.setLong(2048, 5);
            way.source()
                    .post(
                            Work.fetchAndAdd(5, theirs.remote().slice(2048, 8), 3, mine.piece(2048, 8)),
                            Work.compareAndSwap(6, theirs.remote().slice(2048, 8), 8, 80, mine.piece(2056, 8)));
            good(way.source().one(), 5, CompletionOpcode.FETCH_AND_ADD);
            good(way.source().one(), 6, CompletionOpcode.COMPARE_AND_SWAP);
            assertThat(theirs.getLong(2048)).isEqualTo(80);
            assertThat(mine.getLong(2048)).isEqualTo(5);
            assertThat(mine.getLong(2056)).isEqualTo(8);
        }
    }

    @Test
    void theSegmentOfACallerIsChecked() {
        EndMemory own = there().register(64, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        EndMemory source = here().allocate(128, everything());
        for (RemoteMemory bad : new RemoteMemory[] {
            new RemoteMemory(own.address() + 60, 8, own.remote().key()),
            new RemoteMemory(own.address() - 1, 8, own.remote().key()),
            new RemoteMemory(own.address(), 65, own.remote().key())
        }) {
            Pair pair = connected();
            rejected(pair.here(), Work.write(1, bad, source.piece(0, bad.length())), WorkStatus.REMOTE_ACCESS_ERROR);
        }
        RemoteMemory stale = own.remote();
        own.close();
        Pair pair = connected();
        rejected(pair.here(), Work.write(1, stale, source.piece(0, 8)), WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void registersPartOfASegment() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment whole = arena.allocate(4096, 64);
            MemoryRegion part = here().domain().register(whole.asSlice(1000, 100), everything());
            assertThat(part.address()).isEqualTo(whole.address() + 1000);
            assertThat(part.length()).isEqualTo(100);
            LocalMemory local = new LocalMemory(part);
            EndMemory source = there().allocate(100, everything());
            source.write(0, pattern(100, 7));
            Pair pair = connected();
            pair.here().post(Work.read(1, source.remote(), local.piece(0, 100)));
            good(pair.here().one(), 1, CompletionOpcode.READ);
            assertThat(whole.asSlice(1000, 100).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(pattern(100, 7));
            assertThat(whole.get(ValueLayout.JAVA_BYTE, 999)).isZero();
            assertThat(whole.get(ValueLayout.JAVA_BYTE, 1100)).isZero();
            part.close();
        }
    }

    @Test
    void partsOfARegionAreRegionsOfTheirOwn() {
        MemoryRegion whole = here().domain().allocate(3 * 4096, Set.of());
        LocalMemory first = new LocalMemory(here().domain().register(part(whole, 100), everything()));
        LocalMemory second = new LocalMemory(here().domain().register(part(whole, 4196), everything()));
        EndMemory source = there().allocate(200, everything());
        source.write(0, pattern(200, 8));
        Pair pair = connected();
        pair.there().post(Work.write(1, second.remote().slice(20, 100), source.piece(0, 100)));
        good(pair.there().one(), 1, CompletionOpcode.WRITE);
        pair.there().post(Work.read(2, second.remote().slice(20, 100), source.piece(100, 100)));
        good(pair.there().one(), 2, CompletionOpcode.READ);
        assertThat(source.read(100, 100)).isEqualTo(pattern(100, 8));
        pair.here().post(Work.read(3, source.remote().slice(0, 100), first.piece(0, 100)));
        good(pair.here().one(), 3, CompletionOpcode.READ);
        assertThat(part(whole, 100).asSlice(0, 100).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(pattern(100, 8));
        assertThat(part(whole, 4216).asSlice(0, 100).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(pattern(100, 8));

        RemoteMemory closed = first.remote();
        first.close();
        rejected(pair.there(), Work.write(4, closed, source.piece(0, 200)), WorkStatus.REMOTE_ACCESS_ERROR);
        RemoteMemory beyond = new RemoteMemory(
                second.remote().address() + 150, 100, second.remote().key());
        Pair next = connected();
        rejected(next.there(), Work.write(5, beyond, source.piece(0, 100)), WorkStatus.REMOTE_ACCESS_ERROR);
    }

    private static MemorySegment part(MemoryRegion whole, long from) {
        return whole.segment().asSlice(from, 200);
    }

    @Test
    void zeroBasedRegionsAreAddressedFromZero() {
        Set<AccessFlag> rights = new HashSet<>(everything());
        rights.add(AccessFlag.ZERO_BASED);
        if (has(Deviation.NO_ZERO_BASED_REGIONS)) {
            assertThatThrownBy(() -> here().allocate(64, rights))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContaining("EOPNOTSUPP, ZERO_BASED");
            return;
        }
        EndMemory target = there().allocate(64, rights);
        assertThat(target.address()).isZero();
        EndMemory source = here().allocate(8, everything());
        source.setLong(0, 12);
        Pair pair = connected();
        pair.here().post(Work.write(1, target.remote().slice(8, 8), source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        assertThat(target.getLong(8)).isEqualTo(12);
    }

    @Test
    void messagesAndAnswersArriveInAZeroBasedRegion() {
        if (has(Deviation.NO_ZERO_BASED_REGIONS)) {
            return;
        }
        Set<AccessFlag> rights = new HashSet<>(everything());
        rights.add(AccessFlag.ZERO_BASED);
        LocalMemory mine = here().allocate(8192, rights);
        EndMemory theirs = there().allocate(8192, everything());
        theirs.write(0, pattern(8192, 6));
        Pair pair = connected(Spec.usual().withSignalAll());
        if (!can(Capability.ARRIVAL_AT_OFFSETS)) {
            Work read = Work.read(2, theirs.remote().slice(0, 8), mine.piece(0, 8));
            for (ThrowingCallable post : new ThrowingCallable[] {
                () -> pair.here().receive(1, mine.piece(64, 8)),
                () -> pair.here().post(read)
            }) {
                assertThatThrownBy(post)
                        .isInstanceOf(WorkRequestException.class)
                        .hasMessageContaining("no addresses of this process");
            }
            return;
        }
        for (int length : new int[] {8, 4096}) {
            mine.fill(0);
            pair.here().receive(1, mine.piece(64, length));
            pair.there().post(Work.send(2, theirs.piece(0, length)));
            good(pair.here().one(), 1, CompletionOpcode.RECEIVE);
            good(pair.there().one(), 2, CompletionOpcode.SEND);
            assertThat(mine.read(64, length)).isEqualTo(theirs.read(0, length));
            pair.here().post(Work.read(3, theirs.remote().slice(100, length), mine.piece(0, length)));
            good(pair.here().one(), 3, CompletionOpcode.READ);
            assertThat(mine.read(0, length)).isEqualTo(theirs.read(100, length));
        }
    }

    /// Whatever the device does with it, completions mean the same.
    @Test
    void memoryWithRelaxedOrderingIsCompleteWithItsCompletion() {
        Set<AccessFlag> rights = new HashSet<>(everything());
        rights.add(AccessFlag.RELAXED_ORDERING);
        for (Way way : bothWays(connected())) {
            EndMemory mine = way.from().allocate(LARGE, rights);
            EndMemory theirs = way.to().allocate(LARGE, rights);
            mine.write(0, pattern(LARGE, 5));
            way.target().receive(1, theirs.piece(0, 8));
            way.source().post(Work.write(2, theirs.remote(), mine.piece(0, LARGE)));
            way.source().post(Work.send(3, mine.piece(0, 8)));
            good(way.target().one(), 1, CompletionOpcode.RECEIVE);
            assertThat(theirs.read(8, LARGE - 8)).isEqualTo(mine.read(8, LARGE - 8));
            good(way.source().one(), 2, CompletionOpcode.WRITE);
            good(way.source().one(), 3, CompletionOpcode.SEND);
            mine.fill(0);
            way.source().post(Work.read(4, theirs.remote(), mine.piece(0, LARGE)));
            good(way.source().one(), 4, CompletionOpcode.READ);
            assertThat(mine.read(0, LARGE)).isEqualTo(pattern(LARGE, 5));
        }
    }

    @Test
    void reregistrationChangesAccessRights() {
        EndMemory target = there().allocate(64, Set.of(AccessFlag.REMOTE_READ));
        EndMemory source = here().allocate(8, everything());
        if (!can(there(), Capability.REREGISTER_MEMORY)) {
            assertThatThrownBy(() -> there().allocate(8, Set.of()).reregister(everything()))
                    .isInstanceOf(UnsupportedVerbException.class);
            return;
        }
        Pair pair = connected();
        target.reregister(everything());
        pair.here().post(Work.write(1, target.remote(), source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        target.reregister(Set.of(AccessFlag.REMOTE_READ));
        pair.here().post(Work.read(2, target.remote(), source.piece(0, 8)));
        good(pair.here().one(), 2, CompletionOpcode.READ);
        pair.here().post(Work.write(3, target.remote(), source.piece(0, 8)));
        failed(pair.here().one(), 3, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void reregistrationChangesMemoryAndProtectionDomain() {
        if (!can(Capability.REREGISTER_MEMORY)) {
            return;
        }
        MemorySegment first = here().arena().allocate(64, 64);
        MemorySegment second = here().arena().allocate(128, 64);
        MemoryRegion region = here().domain().register(first, everything());
        region.reregister(second, null, null);
        assertThat(region.length()).isEqualTo(128);
        assertThat(region.address()).isEqualTo(second.address());
        EndMemory source = there().allocate(128, everything());
        source.write(0, pattern(128, 2));
        Pair pair = connected();
        pair.here().post(Work.read(1, source.remote(), new LocalMemory(region).piece(0, 128)));
        good(pair.here().one(), 1, CompletionOpcode.READ);
        assertThat(second.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(pattern(128, 2));

        var other = here().context().allocateProtectionDomain();
        region.reregister(null, other, null);
        assertThat(region.protectionDomain()).isSameAs(other);
        pair.here().post(Work.read(2, source.remote(), new LocalMemory(region).piece(0, 8)));
        failed(pair.here().one(), 2, WorkStatus.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void reregistrationCannotReplaceOwnedMemory() {
        if (!can(Capability.REREGISTER_MEMORY)) {
            return;
        }
        MemoryRegion region = here().domain().allocate(64, everything());
        MemorySegment other = here().arena().allocate(64, 64);
        assertThatThrownBy(() -> region.reregister(other, null, null))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("EINVAL");
    }

    @Test
    void closingATargetRegionUnderTrafficFailsOnlyThatTraffic() {
        for (int round = 0; round < Amount.onLine(5, 2); round++) {
            EndMemory target = there().allocate(LARGE, everything());
            EndMemory source = here().allocate(LARGE, everything());
            Pair pair = connected();
            Pair other = connected();
            try (var flood = pair.here().flood(Work.write(0, target.remote(), source.piece(0, LARGE)), 8)) {
                Deadline.await("traffic", () -> flood.done() > 20);
                target.close();
                var tally = flood.await(20_000);
                assertThat(refusal(WorkStatus.REMOTE_ACCESS_ERROR))
                        .contains(tally.failed().getFirst().status());
                assertThat(tally.failed().stream().skip(1)).allMatch(outcome -> outcome.status() == WorkStatus.FLUSHED);
            }
            EndMemory fresh = there().allocate(8, everything());
            other.here().post(Work.write(1, fresh.remote(), source.piece(0, 8)));
            good(other.here().one(), 1, CompletionOpcode.WRITE);
        }
    }

    @Test
    void closingALocalRegionUnderTrafficFailsTheTraffic() {
        EndMemory target = there().allocate(LARGE, everything());
        EndMemory source = here().register(LARGE, everything());
        Pair pair = connected();
        try (var flood = pair.here().flood(Work.write(0, target.remote(), source.piece(0, LARGE)), 8)) {
            Deadline.await("traffic", () -> flood.done() > 20);
            source.close();
            assertThat(differences().badSource())
                    .contains(flood.await(20_000).failed().getFirst().status());
        }
    }

    @Test
    @Tag("slow")
    @Timeout(300)
    void registersAndAccessesALargeRegion() {
        long bytes = 3L << 30;
        EndMemory target;
        try {
            target = there().allocate(bytes, everything());
        } catch (VerbException noRoom) {
            System.out.println(fabric + ": no room for 3 GiB: " + noRoom.getMessage());
            assertThat(noRoom.getMessage()).contains("ENO");
            return;
        }
        EndMemory source = here().allocate(8, everything());
        source.setLong(0, 99);
        Pair pair = connected();
        pair.here().post(Work.write(1, target.remote().slice(bytes - 8, 8), source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        arrived(target, bytes - 8, source.read(0, 8));
        target.close();
    }
}
