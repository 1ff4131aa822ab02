package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Sessions that ask for a special treatment of their memory.
@ExtendWith(LeakCheck.class)
final class BufferMemoryTest {
    @Test
    void buffersWithRelaxedOrderingWorkAsOthers() {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.RELAXED_ORDERING);
        access.addAll(AccessFlag.allRemote());
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withAccess(access))) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            RdmaBuffer target = pair.server.allocate("target", 64);
            assertThat(source.access()).isEqualTo(access);
            RemoteBuffer remote = pair.target(target);
            assertThat(remote.access()).isEqualTo(access);
            source.segment().set(JAVA_LONG, 0, 77);
            var blocking = pair.clientChannel().blocking(TIMEOUT);
            blocking.write(source.slice(0, 8), remote, 8);
            blocking.send(source.slice(0, 8));
            try (var message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                assertThat(message.segment().get(JAVA_LONG, 0)).isEqualTo(77);
                assertThat(target.segment().get(JAVA_LONG, 8)).isEqualTo(77);
            }
        }
    }

    @Test
    void hugePagesAreRejectedWhereTheDeviceHasNone() {
        SessionOptions options = SessionOptions.defaults().withDevice("soft0").withPages(PageSize.HUGE);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            assertThatThrownBy(() -> pair.client.allocate("source", 64))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll("HUGE_PAGES", "soft0", "PageSize.NORMAL");
        }
    }

    @Test
    void registeredMemoryIsCountedAndLimited() {
        SessionOptions options = SessionOptions.defaults().withMemoryLimit(4L << 20);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            long atFirst = pair.client.statistics().registeredBytes();
            RdmaBuffer buffer = pair.client.allocate("buffer", 1 << 20, 2);
            assertThat(pair.client.statistics().registeredBytes()).isEqualTo(atFirst + (2 << 20));
            pair.clientEnd.announce(buffer, AccessFlag.allRemote());
            assertThat(pair.client.statistics().registeredBytes())
                    .as("the same memory with another key")
                    .isEqualTo(atFirst + (2 << 20));
            assertThatThrownBy(() -> pair.client.allocate("more", 1 << 20))
                    .isInstanceOfSatisfying(
                            VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
                    .hasMessageContainingAll(
                            "of at most " + (4 << 20) + " bytes", "'more'", "SessionOptions.withMemoryLimit");
            assertThatThrownBy(() -> pair.client.allocate("buffer", 64)).isInstanceOf(IllegalArgumentException.class);
            buffer.close();
            buffer.close();
            for (int round = 0; round < 10_000; round++) {
                pair.client.allocate("buffer", 64).close();
            }
            assertThat(pair.client.statistics().registeredBytes()).isEqualTo(atFirst);
            try (Arena arena = Arena.ofShared();
                    RdmaBuffer wrapped = pair.client.wrap("wrapped", arena.allocate(100), Set.of())) {
                assertThat(pair.client.statistics().registeredBytes()).isEqualTo(atFirst + wrapped.length());
            }
            pair.clientEnd.close();
            assertThat(pair.client.statistics().registeredBytes()).isZero();
        }
    }

    static Stream<Arguments> memoryPerPeer() {
        SessionOptions plain = SessionOptions.defaults();
        ChannelOptions few = ChannelOptions.defaults().withReceives(16);
        return Stream.of(
                Arguments.of(plain, 1036, 0),
                Arguments.of(plain.withChannels(2), 2062, 0),
                Arguments.of(plain.withChannel(few), 268, 0),
                Arguments.of(plain.withChannel(few.withMessageBytes(4096)), 76, 0),
                Arguments.of(plain.withSharedReceives(SharedReceives.of(1024, 128)), 12, 16 << 10));
    }

    @ParameterizedTest
    @MethodSource
    void memoryPerPeer(SessionOptions options, int kibOfEndPoint, int kibOfSession) {
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            long kib = pair.client.statistics().registeredBytes() >> 10;
            assertThat(kib - kibOfSession).as("as the guide says").isCloseTo(kibOfEndPoint, withinPercentage(5));
            assertThat(pair.server.statistics().registeredBytes() >> 10)
                    .as("accepted or connected")
                    .isEqualTo(kib);
            pair.clientEnd.close();
            assertThat(pair.client.statistics().registeredBytes() >> 10).isEqualTo(kibOfSession);
        }
    }

    @Test
    void anEndPointThatTheMemoryDoesNotAllowIsRefused() {
        SessionOptions little =
                SessionOptions.defaults().withMemoryLimit(1 << 20).withAddress("127.0.0.1", 0);
        try (ServerSession server = ServerSession.listen(little)) {
            assertThatThrownBy(() ->
                            ClientSession.connect(SessionOptions.defaults().withAddress("127.0.0.1", server.port())))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("SessionOptions.withMemoryLimit");
            assertThat(server.statistics().registeredBytes()).isZero();
        }
        assertThatThrownBy(() -> SessionOptions.defaults().withMemoryLimit(0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
