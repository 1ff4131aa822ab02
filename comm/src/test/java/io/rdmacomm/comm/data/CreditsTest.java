package io.rdmacomm.comm.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.SilentDevice;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class CreditsTest {
    private static final ChannelSizes SIZES = new ChannelSizes(4, 4, 64, 0);

    private final Context context = Device.of(new SilentDevice()).open();
    private final ChannelCounters counters = new ChannelCounters();
    private ChannelMemory memory;
    private Credits credits;

    @BeforeEach
    void create() {
        ProtectionDomain domain = context.allocateProtectionDomain();
        MemoryRegion cells = domain.allocate(SIZES.cellBytes(), AccessFlag.allRemote());
        memory = new ChannelMemory(cells, 0);
        credits = new Credits("channel", memory, counters);
        credits.begin(3);
    }

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void thePeersReceivesAreUsedUp() {
        assertThat(credits.take(2)).isTrue();
        assertThat(credits.take(2)).as("more than are left").isFalse();
        assertThat(credits.take(1)).isTrue();
        assertThat(credits.take(1)).isFalse();
    }

    @Test
    void thePeersWriteIsSeenWhenTheLastReceiveIsUsedUp() {
        assertThat(credits.take(3)).isTrue();
        memory.peerReceives(5);
        assertThat(credits.take(2)).isTrue();
        assertThat(credits.take(1)).isFalse();
    }

    @Test
    void anOlderNumberTakesNothingBack() {
        memory.peerReceives(5);
        assertThat(credits.take(5)).isTrue();
        memory.peerReceives(4);
        assertThat(credits.take(1)).isFalse();
        memory.peerReceives(6);
        assertThat(credits.take(1)).isTrue();
    }

    @Test
    void whatWasNotPostedIsGivenBack() {
        assertThat(credits.take(3)).isTrue();
        credits.giveBack(1);
        assertThat(credits.take(1)).isTrue();
        assertThat(credits.take(1)).isFalse();
    }

    @Test
    void whatIsNotUsedIsSurrenderedExceptForThoseOfTheBeginning() {
        assertThat(credits.take(2)).isTrue();
        memory.peerReceives(12);
        assertThat(credits.surrender()).isEqualTo(7);
        assertThat(credits.surrender()).isZero();
        assertThat(credits.take(4)).isFalse();
        assertThat(credits.take(3)).isTrue();
        memory.peerReceives(14);
        assertThat(credits.take(2)).as("new ones").isTrue();
        assertThat(credits.take(1)).isFalse();
    }

    @Test
    void aStallIsCountedOnceUntilItEnds() {
        assertThat(credits.take(3)).isTrue();
        assertThat(credits.take(1)).isFalse();
        assertThat(credits.take(1)).isFalse();
        assertThat(counters.statistics().value(ChannelCounter.CREDIT_STALLS)).isEqualTo(1);
        memory.peerReceives(4);
        assertThat(credits.take(1)).isTrue();
        assertThat(credits.take(1)).isFalse();
        assertThat(counters.statistics().value(ChannelCounter.CREDIT_STALLS)).isEqualTo(2);
    }
}
