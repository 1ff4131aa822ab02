package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Blocks, rings, slices and names.
final class RdmaBufferTest {
    private ServerSession session;

    @BeforeEach
    void open() {
        session = ServerSession.listen(SessionOptions.defaults().withAddress("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        session.close();
    }

    @Test
    void aNewBufferIsZeroAndKnowsItsBlocks() {
        RdmaBuffer buffer = session.allocate("buffer", 1000, 7);

        assertThat(buffer.blockSize()).isEqualTo(1000);
        assertThat(buffer.blockCount()).isEqualTo(7);
        assertThat(buffer.length()).isEqualTo(7000);
        for (long i = 0; i < buffer.length(); i++) {
            assertThat(buffer.segment().get(JAVA_BYTE, i)).isZero();
        }
        assertThat(buffer.block(6).offset()).isEqualTo(6000);
        assertThat(buffer.block(6)).isSameAs(buffer.block(6));
        assertThat(buffer.block(2).segment().address())
                .isEqualTo(buffer.segment().address() + 2000);
        assertThatThrownBy(() -> buffer.block(7)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void aLengthAloneIsOneBlock() {
        RdmaBuffer buffer = session.allocate("buffer", 1000);

        assertThat(buffer.name()).isEqualTo("buffer");
        assertThat(buffer.blockCount()).isEqualTo(1);
        assertThat(buffer.blockSize()).isEqualTo(1000);
    }

    @Test
    void buffersWithoutANameAreDistinct() {
        RdmaBuffer one = session.allocate(16, 2);
        RdmaBuffer other = session.allocate(16, 2);

        assertThat(one.name()).isNotEqualTo(other.name());
        assertThat(one.blockCount()).isEqualTo(2);
    }

    @Test
    void watchedMemoryIsReadAtMultiplesOfEightWithinTheSlice() {
        RdmaBuffer buffer = session.allocate("watched", 64, 2);
        buffer.segment().set(JAVA_LONG, 72, 42);
        BufferSlice slice = buffer.block(1);

        assertThat(slice.getAcquire(8)).isEqualTo(42);
        assertThat(slice.getAcquire(56)).isZero();
        assertThatThrownBy(() -> slice.getAcquire(57)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> slice.getAcquire(-8)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> slice.getAcquire(1)).isInstanceOf(IllegalArgumentException.class);
        buffer.close();
        assertThatThrownBy(() -> slice.getAcquire(8)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void theRingNeitherOverrunsNorUnderruns() {
        RdmaBuffer buffer = session.allocate("ring", 16, 3);

        assertThatThrownBy(buffer::release)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("taken");
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 3; i++) {
                assertThat(buffer.next()).isSameAs(buffer.block(i));
            }
            assertThat(buffer.next()).isNull();
            assertThat(buffer.taken()).isEqualTo(3);
            for (int i = 0; i < 3; i++) {
                assertThat(buffer.release()).isSameAs(buffer.block(i));
            }
        }
    }

    @Test
    void clearingClearsAllOfIt() {
        RdmaBuffer buffer = session.allocate("buffer", 100, 3);
        buffer.segment().fill((byte) 1);

        buffer.clear();

        assertThat(buffer.segment().asSlice(299).get(JAVA_BYTE, 0)).isZero();
        assertThat(buffer.segment().get(JAVA_BYTE, 0)).isZero();
    }

    @Test
    void aBufferHasTheRequestedRights() {
        RdmaBuffer buffer = session.allocate("r", 64, 1, Set.of(AccessFlag.REMOTE_READ));

        assertThat(buffer.access()).containsExactly(AccessFlag.REMOTE_READ);
        assertThatThrownBy(() -> session.allocate("w", 64, 1, Set.of(AccessFlag.REMOTE_WRITE)))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("LOCAL_WRITE");
    }

    @Test
    void aNameIsUniqueAmongOpenBuffers() {
        RdmaBuffer buffer = session.allocate("name", 64);

        assertThatThrownBy(() -> session.allocate("name", 64))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'name'");
        buffer.close();
        assertThat(session.allocate("name", 64).isOpen()).isTrue();
    }

    @Test
    void invalidSizesAreRejectedWithAReason() {
        assertThatThrownBy(() -> session.allocate("b", 0))
                .hasMessage("block size is 0, must be 1 to " + Long.MAX_VALUE);
        assertThatThrownBy(() -> session.allocate("b", 1, 0)).hasMessageContaining("block count is 0");
        assertThatThrownBy(() -> session.allocate("b", Long.MAX_VALUE, 2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("more than can be addressed");
        assertThatThrownBy(() -> session.allocate("n".repeat(129), 1)).hasMessageContaining("128 characters");
    }

    @Test
    void closingIsIdempotent() {
        RdmaBuffer buffer = session.allocate("buffer", 64);
        buffer.close();
        buffer.close();
        assertThat(buffer.isOpen()).isFalse();
    }

    @Test
    void memoryOfTheCallerIsNotFreed() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment mine = arena.allocate(64);
            session.wrap("mine", mine, AccessFlag.allRemote()).close();
            mine.fill((byte) 1);
            assertThat(mine.get(JAVA_BYTE, 63)).isEqualTo((byte) 1);
        }
    }

    @Test
    void aPeersWriteIntoAClosedBufferFailsAndTouchesNothing() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer target = pair.server.allocate("target", 64);
            RemoteBuffer remote = pair.target(target);
            RdmaBuffer source = pair.client.allocate("source", 64);
            target.close();

            assertThatThrownBy(() -> pair.clientChannel().blocking(TIMEOUT).write(source.block(0), remote, 0))
                    .isInstanceOf(OperationException.class)
                    .hasMessageContaining("the peer's buffer is closed");
        }
    }

    @Test
    void oneBufferServesAllEndPointsAndChannels() {
        SessionOptions options = SessionOptions.defaults().withChannels(3);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer target = pair.server.allocate("target", 8, 3);
            RdmaBuffer source = pair.client.allocate("source", 8);
            source.segment().fill((byte) 1);
            RemoteBuffer remote = pair.target(target);
            for (int i = 0; i < 3; i++) {
                pair.clientEnd.channel(i).blocking(TIMEOUT).write(source.block(0), remote, i * 8L);
            }
            assertThat(target.segment().get(JAVA_BYTE, 23)).isEqualTo((byte) 1);
        }
    }
}
