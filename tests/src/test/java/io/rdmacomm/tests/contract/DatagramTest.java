package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Datagram;
import io.rdmacomm.tests.fixture.EndDatagrams;
import io.rdmacomm.tests.fixture.LocalDatagrams;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Datagrams: who gets them, what is in front of them, and when they are lost.
class DatagramTest extends ContractCase {
    private static final int KEY = 0x1122_3344;
    private static final long SHORT_MILLIS = 100;

    private LocalDatagrams mine() {
        return closing(here().datagrams(KEY));
    }

    private EndDatagrams theirs() {
        return closing(there().datagrams(KEY));
    }

    private static void sent(EndDatagrams from, long id) {
        good(from.one().outcome(), id, CompletionOpcode.SEND);
    }

    private static Datagram received(EndDatagrams to, long id) {
        Datagram datagram = to.one();
        good(datagram.outcome(), id, CompletionOpcode.RECEIVE);
        return datagram;
    }

    @Test
    void aDatagramComesWithItsSenderAndA40ByteHeader() {
        LocalDatagrams mine = mine();
        EndDatagrams theirs = theirs();
        theirs.receive(7);
        byte[] payload = pattern(100, 1);

        assertThat(mine.send(theirs.info(), KEY, 1, payload)).isEqualTo(1);

        sent(mine, 1);
        Datagram datagram = received(theirs, 7);
        assertThat(datagram.outcome().bytes()).as("with the header").isEqualTo(140);
        assertThat(datagram.outcome().immediate()).isNull();
        assertThat(datagram.source()).isEqualTo(mine.number());
        assertThat(datagram.payload()).isEqualTo(payload);
        assertThat(datagram.hasHeader()).isTrue();
        GlobalRoutingHeader header = GlobalRoutingHeader.read(MemorySegment.ofArray(datagram.header()), 0);
        assertThat(header.source()).isEqualTo(mine.info().gid());
        assertThat(header.destination()).isEqualTo(theirs.info().gid());
    }

    @Test
    void aDatagramIsAnsweredFromItsCompletionAlone() {
        LocalDatagrams mine = mine();
        EndDatagrams theirs = theirs();
        mine.receive(3);
        theirs.receive(7);
        mine.send(theirs.info(), KEY, 1, pattern(8, 1));
        sent(mine, 1);
        received(theirs, 7);

        assertThat(theirs.answer(7, KEY, 2, pattern(9, 2))).isEqualTo(1);

        good(theirs.one().outcome(), 2, CompletionOpcode.SEND);
        Datagram answer = received(mine, 3);
        assertThat(answer.payload()).isEqualTo(pattern(9, 2));
        assertThat(answer.source()).isEqualTo(theirs.number());
        mine.receive(4);
        theirs.receive(8);
        mine.answer(3, KEY, 5, pattern(1, 3));
        assertThat(received(theirs, 8).payload()).isEqualTo(pattern(1, 3));
    }

    @Test
    void immediateDataIsCarried() {
        LocalDatagrams mine = mine();
        EndDatagrams theirs = theirs();
        theirs.receive(7);
        QueuePairInfo peer = theirs.info();
        mine.sendTo(peer, peer.number(), KEY, 1, pattern(4, 1), 0x01020304);
        sent(mine, 1);
        Datagram datagram = received(theirs, 7);
        assertThat(datagram.outcome().immediate()).isEqualTo(0x01020304);
        assertThat(datagram.payload()).isEqualTo(pattern(4, 1));
    }

    @Test
    void datagramsOfAllLengthsUpToTheMtuArrive() {
        LocalDatagrams mine = mine();
        EndDatagrams theirs = theirs();
        QueuePairInfo peer = theirs.info();
        for (int bytes : new int[] {0, 1, 3, 64, 255, theirs.longest() - 1, theirs.longest()}) {
            theirs.receive(7);
            mine.send(peer, KEY, bytes, pattern(bytes, bytes));
            sent(mine, bytes);
            Datagram datagram = received(theirs, 7);
            assertThat(datagram.payload()).isEqualTo(pattern(bytes, bytes));
            assertThat(datagram.outcome().bytes()).isEqualTo(bytes + 40);
        }
    }

    @Test
    void aLongerOneIsRejectedWhenItIsPosted() {
        LocalDatagrams mine = mine();
        assertThatThrownBy(() -> mine.send(mine.info(), KEY, 1, new byte[mine.longest() + 1]))
                .isInstanceOf(WorkRequestException.class)
                .hasMessageContaining("a datagram has at most " + mine.longest());
        assertThat(mine.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    /// Waits until what was sent before has arrived as well: datagrams to one context keep their order.
    private void awaitArrival(LocalDatagrams from) {
        try (EndDatagrams behind = there().datagrams(KEY)) {
            behind.receive(1);
            from.send(behind.info(), KEY, 99, pattern(8, 99));
            sent(from, 99);
            received(behind, 1);
        }
    }

    @Test
    void nobodyNoticesThatADatagramWasLost() {
        LocalDatagrams mine = mine();
        EndDatagrams theirs = theirs();
        QueuePairInfo peer = theirs.info();
        mine.send(peer, KEY, 1, pattern(8, 1)); // there is no receive
        sent(mine, 1);
        awaitArrival(mine);
        theirs.receive(7);
        mine.send(peer, KEY + 1, 2, pattern(8, 2)); // it has another key
        sent(mine, 2);
        mine.sendTo(peer, peer.number() ^ 0x5a5a, KEY, 3, pattern(8, 3), null); // there is no such queue pair
        sent(mine, 3);
        EndDatagrams other = closing(there().datagrams(KEY));
        QueuePairInfo closed = other.info();
        other.close();
        mine.send(closed, KEY, 4, pattern(8, 4));
        sent(mine, 4);
        awaitArrival(mine);

        assertThat(theirs.collect(1, SHORT_MILLIS)).as("all of them are lost").isEmpty();
        assertThat(mine.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        mine.send(peer, KEY, 5, pattern(8, 5));
        sent(mine, 5);
        assertThat(received(theirs, 7).payload()).isEqualTo(pattern(8, 5));
    }

    @Test
    void oneQueuePairSendsToManyAndReceivesFromMany() {
        LocalDatagrams mine = mine();
        List<EndDatagrams> all = List.of(theirs(), theirs(), closing(here().datagrams(KEY)));
        for (int i = 0; i < all.size(); i++) {
            all.get(i).receive(1);
            mine.receive(10 + i);
        }
        for (int i = 0; i < all.size(); i++) {
            mine.send(all.get(i).info(), KEY, i, pattern(20, i));
            sent(mine, i);
        }
        for (int i = 0; i < all.size(); i++) {
            assertThat(received(all.get(i), 1).payload()).isEqualTo(pattern(20, i));
            all.get(i).answer(1, KEY, 2, pattern(21, i));
            Datagram answer = received(mine, 10 + i);
            assertThat(answer.source()).isEqualTo(all.get(i).number());
            assertThat(answer.payload()).isEqualTo(pattern(21, i));
        }
    }

    @Test
    void aQueuePairSendsToItself() {
        LocalDatagrams mine = mine();
        mine.receive(7);
        mine.send(mine.info(), KEY, 1, pattern(30, 1));
        List<Datagram> both = new ArrayList<>(List.of(mine.one(), mine.one()));
        assertThat(both).extracting(datagram -> datagram.outcome().id()).containsExactlyInAnyOrder(1L, 7L);
        assertThat(both)
                .filteredOn(datagram -> datagram.outcome().id() == 7)
                .allSatisfy(datagram -> assertThat(datagram.payload()).isEqualTo(pattern(30, 1)));
    }

    @Test
    void datagramsBetweenTwoQueuePairsThatArriveAreInOrderAndWhole() {
        LocalDatagrams mine = mine();
        EndDatagrams theirs = theirs();
        QueuePairInfo peer = theirs.info();
        int rounds = 20;
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < 16; i++) {
                theirs.receive(i);
            }
            for (int i = 0; i < 16; i++) {
                mine.send(peer, KEY, i, pattern(200, round * 16 + i));
                sent(mine, i);
            }
            List<Datagram> got = theirs.collect(16, 60_000);
            for (int i = 0; i < 16; i++) {
                good(got.get(i).outcome(), i, CompletionOpcode.RECEIVE);
                assertThat(got.get(i).payload()).isEqualTo(pattern(200, round * 16 + i));
            }
        }
    }

    @Test
    void theErrorStateFlushesReceives() {
        LocalDatagrams mine = mine();
        mine.receive(1);
        mine.receive(2);
        mine.fail();
        assertThat(mine.collect(2, 60_000))
                .extracting(datagram -> datagram.outcome().status())
                .containsExactly(WorkStatus.FLUSHED, WorkStatus.FLUSHED);
    }

    @Test
    void aClosedAddressHandleIsRejected() {
        LocalDatagrams mine = mine();
        AddressHandle handle = here().domain().createAddressHandle(mine.info(), PathOptions.defaults());
        SendBatch batch = SendBatch.create(here().arena(), 1, 1);
        batch.send(1).to(handle, mine.number(), KEY);
        handle.close();
        assertThatThrownBy(() -> mine.queuePair().post(batch))
                .isInstanceOf(WorkRequestException.class)
                .hasMessageContaining("is closed");
    }

    @Test
    void everyMemberOfAGroupGetsWhatIsSentToIt() {
        Gid group = Gid.of(InetAddress.ofLiteral("239.1.2.3"));
        LocalDatagrams mine = mine();
        EndDatagrams theirs = theirs();
        EndDatagrams outsider = theirs();
        mine.join(group);
        theirs.join(group);
        mine.receive(3);
        theirs.receive(7);
        outsider.receive(9);

        mine.sendToGroup(group, KEY, 1, pattern(50, 1));

        List<Datagram> both = mine.collect(2, 60_000);
        assertThat(both).extracting(datagram -> datagram.outcome().id()).containsExactlyInAnyOrder(1L, 3L);
        Datagram datagram = received(theirs, 7);
        assertThat(datagram.payload()).isEqualTo(pattern(50, 1));
        assertThat(GlobalRoutingHeader.read(MemorySegment.ofArray(datagram.header()), 0)
                        .destination())
                .isEqualTo(group);
        assertThat(outsider.collect(1, SHORT_MILLIS)).isEmpty();
        theirs.answer(7, KEY, 2, pattern(51, 2));
        mine.receive(4);
        good(theirs.one().outcome(), 2, CompletionOpcode.SEND);

        theirs.detach(group);
        theirs.receive(8);
        mine.sendToGroup(group, KEY, 5, pattern(52, 1));
        sentAmong(mine, 5);
        assertThat(theirs.collect(1, SHORT_MILLIS)).isEmpty();
    }

    private static void sentAmong(EndDatagrams from, long id) {
        List<Datagram> some = new ArrayList<>();
        while (some.stream().noneMatch(datagram -> datagram.outcome().id() == id)) {
            some.add(from.one());
        }
    }
}
