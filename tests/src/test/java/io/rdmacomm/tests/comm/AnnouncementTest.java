package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Which peers can use a buffer, how, and how long. Peers that do not keep to the rules use keys as they
/// like.
@ExtendWith(LeakCheck.class)
final class AnnouncementTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withPort(0);
    private static final Set<AccessFlag> READ = EnumSet.of(AccessFlag.REMOTE_READ);
    private static final Set<AccessFlag> WRITE = EnumSet.of(AccessFlag.REMOTE_WRITE);

    private final ServerSession server = ServerSession.listen(OPTIONS);
    private final Client one = new Client();
    private final Client other = new Client();

    /// A client with the server's end of its connection.
    private final class Client {
        private final ClientSession session = ClientSession.connect(OPTIONS.withPort(server.port()));
        private final EndPoint here = server.accept(TIMEOUT);
        private final RdmaBuffer memory = session.allocate("memory", 64);

        RemoteBuffer find(RdmaBuffer buffer) {
            return session.endPoint().peerBuffer(buffer.name(), TIMEOUT);
        }

        void write(RemoteBuffer to, long value) {
            memory.segment().set(JAVA_LONG, 0, value);
            session.endPoint().channel(0).blocking(TIMEOUT).write(memory.slice(0, 8), to, 0);
        }

        long read(RemoteBuffer from) {
            session.endPoint().channel(0).blocking(TIMEOUT).read(memory.slice(8, 8), from, 0);
            return memory.segment().get(JAVA_LONG, 8);
        }

        /// Writes with this key, whatever its owner has said of it.
        void mustNotWrite(RemoteBuffer to) {
            RemoteBuffer forged =
                    RemoteBuffer.of(to.name(), to.address(), to.length(), to.key(), AccessFlag.allRemote());
            assertThatThrownBy(() -> write(forged, -1))
                    .isInstanceOfSatisfying(
                            OperationException.class,
                            e -> assertThat(e.status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR));
        }
    }

    @AfterEach
    void close() {
        one.session.close();
        other.session.close();
        server.close();
    }

    private static long content(RdmaBuffer buffer) {
        return buffer.segment().get(JAVA_LONG, 0);
    }

    @Test
    void nobodyCanUseABufferThatWasNotAnnounced() {
        RdmaBuffer buffer = server.allocate("buffer", 64);

        assertThat(buffer.access()).containsExactly(AccessFlag.LOCAL_WRITE);
        assertThatThrownBy(() -> one.here.announce(buffer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gives peers no right; announce it with the rights");
        one.mustNotWrite(buffer.asRemote());
        assertThat(content(buffer)).isZero();
    }

    @Test
    void aPeerThatMayReadCannotWrite() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        buffer.segment().set(JAVA_LONG, 0, 5);
        one.here.announce(buffer, READ);

        RemoteBuffer remote = one.find(buffer);
        assertThat(remote.access()).isEqualTo(READ);
        assertThat(one.read(remote)).isEqualTo(5);
        assertThatThrownBy(() -> one.write(remote, 6))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("its owner must announce it with that right");
        one.mustNotWrite(remote);
        assertThat(content(buffer)).isEqualTo(5);
    }

    @Test
    void aPeerThatMayHaveAViewSharesTheMemory() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        one.here.announce(buffer, EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.DIRECT_VIEW));
        other.here.announce(buffer, READ);
        RemoteBuffer remote = one.find(buffer);
        MemorySegment view = one.session.endPoint().directView(remote);

        buffer.segment().set(JAVA_LONG, 8, 5);
        assertThat(view.byteSize()).isEqualTo(64);
        assertThat(view.get(JAVA_LONG, 8)).isEqualTo(5);
        view.set(JAVA_LONG, 0, 6);
        assertThat(content(buffer)).isEqualTo(6);
        assertThat(other.session.endPoint().directView(other.find(buffer)))
                .as("a peer without that right")
                .isNull();
        assertThatThrownBy(() -> other.session.endPoint().directView(remote))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("belongs to another endpoint");

        one.here.withdraw(buffer);
        assertThat(one.session.endPoint().directView(remote))
                .as("after the withdrawal")
                .isNull();
        assertThat(view.get(JAVA_LONG, 0)).as("a view outlives it").isEqualTo(6);
        buffer.close();
        view.set(JAVA_LONG, 0, 7);
        EndPoint endPoint = one.session.endPoint();
        one.session.close();
        assertThatThrownBy(() -> view.get(JAVA_LONG, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> endPoint.directView(remote)).isInstanceOf(ClosedException.class);
    }

    @Test
    void aViewNeedsTheRightToRead() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        assertThatThrownBy(() -> one.here.announce(buffer, EnumSet.of(AccessFlag.DIRECT_VIEW)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("DIRECT_VIEW requires REMOTE_READ");
    }

    @Test
    void eachPeerHasAKeyAndRightsOfItsOwn() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        one.here.announce(buffer, WRITE);
        other.here.announce(buffer, READ);

        RemoteBuffer written = one.find(buffer);
        RemoteBuffer read = other.find(buffer);
        assertThat(Set.of(written.key(), read.key(), buffer.asRemote().key())).hasSize(3);
        one.write(written, 7);
        assertThat(other.read(read)).isEqualTo(7);
        assertThat(server.context().counters(1).get("staged_copies_for_peers"))
                .as("pieces that a thread of the server has copied")
                .isIn(null, 0L);
    }

    @Test
    void aKeyEndsWhenItIsWithdrawn() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        one.here.announce(buffer, WRITE);
        other.here.announce(buffer, WRITE);
        RemoteBuffer ofOne = one.find(buffer);
        RemoteBuffer ofOther = other.find(buffer);
        one.write(ofOne, 1);

        one.here.withdraw(buffer);

        eventually(() -> one.session.endPoint().peerBuffer("buffer") == null);
        one.mustNotWrite(ofOne);
        other.write(ofOther, 2);
        other.mustNotWrite(ofOne);
        assertThat(content(buffer)).isEqualTo(2);
    }

    @Test
    void aKeyEndsWithItsEndPoint() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        one.here.announce(buffer, WRITE);
        RemoteBuffer ofOne = one.find(buffer);
        one.write(ofOne, 1);

        one.session.close();
        one.here.close();

        other.mustNotWrite(ofOne);
        assertThat(content(buffer)).isEqualTo(1);
    }

    @Test
    void aKeyEndsWithItsBuffer() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        one.here.announce(buffer, WRITE);
        RemoteBuffer ofOne = one.find(buffer);

        buffer.close();

        RdmaBuffer next = server.allocate("buffer", 64);
        one.here.announce(next, WRITE);
        eventually(() -> one.find(next).key() != ofOne.key());
        one.write(one.find(next), 3);
        assertThat(content(next)).isEqualTo(3);
        one.mustNotWrite(ofOne);
    }

    @Test
    void whatWasWithdrawnCanBeAnnouncedWithOtherRights() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        one.here.withdraw(buffer);
        one.here.announce(buffer, READ);
        assertThatThrownBy(() -> one.here.announce(buffer, WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("was announced already; withdraw it first");

        one.here.withdraw(buffer);
        one.here.announce(buffer, WRITE);

        eventually(() -> one.find(buffer).access().equals(WRITE));
        one.write(one.find(buffer), 4);
        assertThat(content(buffer)).isEqualTo(4);
    }

    @Test
    void onlyRightsForPeersAreGiven() {
        RdmaBuffer buffer = server.allocate("buffer", 64);
        RdmaBuffer constant = server.allocate("constant", 64, 1, Set.of());

        for (Set<AccessFlag> wrong : Set.of(
                Set.<AccessFlag>of(),
                Set.of(AccessFlag.LOCAL_WRITE),
                Set.of(AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED))) {
            assertThatThrownBy(() -> one.here.announce(buffer, wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("of an announcement");
        }
        assertThatThrownBy(() -> one.here.announce(constant, WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("without LOCAL_WRITE");
        one.here.announce(constant, READ);
        assertThat(one.read(one.find(constant))).isZero();
    }

    @Test
    void memoryOfTheCallerIsAnnouncedInTheSameWay() {
        try (Arena arena = Arena.ofShared()) {
            RdmaBuffer wrapped = server.wrap("mine", arena.allocate(64, 8), Set.of(AccessFlag.LOCAL_WRITE));
            one.here.announce(wrapped, WRITE);
            one.write(one.find(wrapped), 9);
            assertThat(content(wrapped)).isEqualTo(9);
            one.mustNotWrite(wrapped.asRemote());
            wrapped.close();
        }
    }

    @Test
    void sessionsCanGiveEveryRightFromTheBeginning() {
        SessionOptions open = OPTIONS.withAccess(AccessFlag.allRemote());
        try (ConnectedPair pair = ConnectedPair.of(open)) {
            RdmaBuffer buffer = pair.server.allocate("buffer", 64);
            pair.serverEnd.announce(buffer);
            pair.serverEnd.announce(buffer);

            RemoteBuffer remote = pair.clientEnd.peerBuffer("buffer", TIMEOUT);
            assertThat(remote).isEqualTo(buffer.asRemote());
            assertThat(remote.access()).isEqualTo(AccessFlag.allRemote());
        }
    }
}
