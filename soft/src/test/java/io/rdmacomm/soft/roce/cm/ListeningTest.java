package io.rdmacomm.soft.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.cm.Conversation.State;
import io.rdmacomm.soft.roce.mad.ConnectReply;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.DisconnectReply;
import io.rdmacomm.soft.roce.mad.DisconnectRequest;
import io.rdmacomm.soft.roce.mad.MessageKind;
import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ReadyToUse;
import io.rdmacomm.soft.roce.mad.Receipt;
import io.rdmacomm.soft.roce.mad.Rejection;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The side that is asked for a connection.
@Timeout(60)
class ListeningTest extends ManagerCase {
    private static final int BACKLOG = 2;
    private static final byte[] NO_DATA = {};

    private final ListeningPort<Conversation> port = listen(BACKLOG);

    private Conversation requested() throws InterruptedException {
        return requested(THEIR_ID);
    }

    private Conversation requested(int id) throws InterruptedException {
        assertThat(arrives(request(id))).isTrue();
        sendsNothing();
        return take(port);
    }

    private Conversation accepting() throws InterruptedException {
        Conversation taken = requested();
        taken.accept(reply(taken.id(), THEIR_ID, OWN_NUMBER));
        sends(ConnectReply.class);
        return taken;
    }

    private Conversation connected(Runnable onEnd) throws InterruptedException {
        Conversation taken = accepting();
        arrives(new ReadyToUse(THEIR_ID, taken.id()));
        assertThat(taken.confirm(onEnd)).isTrue();
        return taken;
    }

    private void assertEmpty() throws InterruptedException {
        assertThat(port.await(0)).isNull();
    }

    private void assertRefused(ConnectRequest request, int reason) throws InterruptedException {
        assertThat(arrives(request)).isTrue();
        assertThat(sends(Rejection.class))
                .usingRecursiveComparison()
                .isEqualTo(new Rejection(0, request.id(), MessageKind.REQUEST, reason, 0, new byte[148]));
        assertThat(lastTransaction).isEqualTo(TRANSACTION);
        assertEmpty();
        sendsNothing();
    }

    @Test
    void theUsualExchange() throws InterruptedException {
        assertThat(arrives(request(THEIR_ID))).isTrue();
        sendsNothing();
        Conversation taken = take(port);
        assertThat(taken.request().privateData()).isEqualTo(padded(56, 1));
        assertThat(state(taken)).isEqualTo(State.REQUESTED);
        taken.accept(reply(taken.id(), THEIR_ID, OWN_NUMBER));
        assertThat(sends(ConnectReply.class).peerId()).isEqualTo(THEIR_ID);
        assertThat(lastTransaction).isEqualTo(TRANSACTION);
        assertThat(state(taken)).isEqualTo(State.ACCEPTING);
        assertThat(arrives(new ReadyToUse(THEIR_ID, taken.id()))).isTrue();
        assertThat(state(taken)).isEqualTo(State.CONNECTED);
        assertNothingIsDue();
        assertThat(taken.confirm(() -> {})).isTrue();
        sendsNothing();
        taken.disconnect();
        assertThat(sends(DisconnectRequest.class)).isEqualTo(new DisconnectRequest(taken.id(), THEIR_ID, THEIR_NUMBER));
        arrives(new DisconnectReply(THEIR_ID, taken.id()));
        assertThat(state(taken)).isEqualTo(State.ENDED);
        assertNothingIsDue();
    }

    // ---- Requests ----

    @Test
    void aRequestWakesTheProgram() {
        CompletableFuture<Conversation> waiter = waiting(() -> port.await(TimeUnit.SECONDS.toNanos(LONG_SECONDS)));
        arrives(request(THEIR_ID));
        assertThat(waiter.join().request().id()).isEqualTo(THEIR_ID);
    }

    /// Reliable connections of other ports and port spaces, among them RDMA_PS_IB of Linux, and of datagrams.
    @ParameterizedTest
    @ValueSource(longs = {0x0106_0000L + PORT + 1, 0x013f_0000L + PORT, 0x0111_0000L + PORT, 0x0002_0000L + PORT, PORT})
    void whereNobodyListensRequestsAreRefused(long service) throws InterruptedException {
        assertRefused(request(THEIR_ID, service, THEIR_NUMBER, true, 3, THERE), Rejection.NOBODY_LISTENS);
    }

    @ParameterizedTest
    @CsvSource({
        "false, 2345, 3, 10.9.0.2, 9",
        "true, 0, 3, 10.9.0.2, 1",
        "true, 1, 3, 10.9.0.2, 1",
        "true, 2345, 3, 10.9.0.3, 12",
        "true, 2345, 4, 10.9.0.2, 26",
        "true, 2345, 0, 10.9.0.2, 26",
        "true, 2345, 15, 10.9.0.2, 26",
    })
    void requestsForWhatIsImpossibleAreRefused(boolean reliable, int queuePair, int mtu, String source, int reason)
            throws InterruptedException {
        long service = PortSpace.CONNECTIONS.service(PORT);
        assertRefused(request(THEIR_ID, service, queuePair, reliable, mtu, InetAddress.ofLiteral(source)), reason);
    }

    @Test
    void aRequestForAnotherHostIsRefused() throws InterruptedException {
        ConnectRequest right = request(THEIR_ID);
        assertRefused(
                new ConnectRequest(
                        THEIR_ID,
                        right.service(),
                        GUID,
                        THEIR_NUMBER,
                        5,
                        right.depths(),
                        true,
                        3,
                        7,
                        7,
                        14,
                        0,
                        right.source(),
                        right.source(),
                        right.addresses(),
                        NO_DATA),
                Rejection.WRONG_GID);
    }

    /// Without the addresses of the programs, as those of IPv6 are.
    @Test
    void aRequestWithoutAddressesIsRefused() throws InterruptedException {
        ConnectRequest right = request(THEIR_ID);
        assertRefused(
                new ConnectRequest(
                        THEIR_ID,
                        right.service(),
                        GUID,
                        THEIR_NUMBER,
                        5,
                        right.depths(),
                        true,
                        3,
                        7,
                        7,
                        14,
                        0,
                        right.source(),
                        right.destination(),
                        null,
                        NO_DATA),
                Rejection.WRONG_GID);
    }

    @Test
    void aRepeatedRequestIsAcknowledgedAndSeenOnce() throws InterruptedException {
        Conversation taken = requested();
        for (int i = 0; i < 2; i++) {
            arrives(request(THEIR_ID));
            Receipt receipt = sends(Receipt.class);
            assertThat(receipt.id()).isEqualTo(taken.id());
            assertThat(receipt.peerId()).isEqualTo(THEIR_ID);
            assertThat(receipt.received()).isEqualTo(MessageKind.REQUEST);
            assertThat(receipt.timeout()).isEqualTo(TIMEOUT);
            assertThat(lastTransaction).isEqualTo(TRANSACTION);
            sendsNothing();
        }
        assertEmpty();
    }

    @Test
    void aRepeatedRequestGetsTheReplyAgain() throws InterruptedException {
        Conversation taken = accepting();
        arrives(request(THEIR_ID));
        assertThat(sends(ConnectReply.class).id()).isEqualTo(taken.id());
        assertEmpty();
    }

    @Test
    void aRepeatedRequestGetsTheRejectionAgain() throws InterruptedException {
        Conversation taken = requested();
        taken.refuse(Rejection.PROGRAM, new byte[] {9});
        Rejection first = sends(Rejection.class);
        assertThat(first.id()).isZero();
        assertThat(first.peerId()).isEqualTo(THEIR_ID);
        assertThat(first.privateData()).isEqualTo(padded(148, 9));
        arrives(request(THEIR_ID));
        assertThat(sends(Rejection.class)).usingRecursiveComparison().isEqualTo(first);
        assertEmpty();
        assertThat(state(taken)).isEqualTo(State.ENDED);
    }

    @Test
    void aRequestThatComesLateToAConnectionIsIgnored() throws InterruptedException {
        connected(() -> {});
        assertThat(arrives(request(THEIR_ID))).isTrue();
        sendsNothing();
        assertEmpty();
    }

    @Test
    void theSameNumberOfAnotherPeerIsAnotherRequest() throws InterruptedException {
        Conversation taken = requested();
        long service = PortSpace.CONNECTIONS.service(PORT);
        arrives(STRANGER, request(THEIR_ID, service, THEIR_NUMBER, true, 3, STRANGER));
        assertThat(take(port).id()).isNotEqualTo(taken.id());
    }

    /// The oldest are forgotten, so that a flood costs no memory.
    @Test
    void aFloodOfRefusedRequestsIsForgotten() throws InterruptedException {
        for (int id = 1; id <= 1000; id++) {
            requested(id).refuse(Rejection.PROGRAM, NO_DATA);
            sends(Rejection.class);
        }
        arrives(request(1000));
        sends(Rejection.class);
        arrives(request(1));
        assertThat(take(port).request().id()).isOne();
    }

    // ---- The backlog ----

    /// It costs nothing to remember.
    @Test
    void whoFindsTheBacklogFullIsToldToAskAgain() throws InterruptedException {
        for (int id = 1; id <= BACKLOG; id++) {
            assertThat(arrives(request(id))).isTrue();
        }
        sendsNothing();
        for (int i = 0; i < 3; i++) {
            assertThat(arrives(request(99))).isTrue();
            assertThat(sends(Receipt.class)).isEqualTo(new Receipt(0, 99, MessageKind.REQUEST, 18));
        }
        // One that waits is known.
        assertThat(arrives(request(1))).isTrue();
        assertThat(sends(Receipt.class).timeout()).isEqualTo(TIMEOUT);
        assertThat(take(port).request().id()).isOne();
        assertThat(arrives(request(99))).isTrue();
        sendsNothing();
        assertThat(take(port).request().id()).isEqualTo(2);
        assertThat(take(port).request().id()).isEqualTo(99);
        assertEmpty();
    }

    @Test
    void oneAddressDoesNotFillTheBacklog() {
        ListeningPort<Conversation> large = manager.listen(PORT + 1, 8);
        long service = PortSpace.CONNECTIONS.service(PORT + 1);
        for (int id = 1; id <= 20; id++) {
            arrives(STRANGER, request(id, service, THEIR_NUMBER, true, 3, STRANGER));
        }
        for (int i = 6; i < 20; i++) {
            sends(STRANGER, Receipt.class);
        }
        sendsNothing();
        arrives(request(THEIR_ID, service, THEIR_NUMBER, true, 3, THERE));
        sendsNothing();
        assertThat(large.end()).hasSize(7);
    }

    @Test
    void aPeerThatGivesUpLeavesTheBacklog() throws InterruptedException {
        for (int id = 1; id <= BACKLOG; id++) {
            arrives(request(id));
        }
        Rejection rejection = new Rejection(1, 0, MessageKind.REQUEST, Rejection.TIMEOUT);
        assertThat(arrives(STRANGER, rejection)).isFalse();
        assertThat(arrives(rejection)).isTrue();
        assertThat(arrives(rejection)).isFalse();
        assertThat(take(port).request().id()).isEqualTo(2);
        assertEmpty();
        sendsNothing();
        // It may ask again.
        assertThat(arrives(request(1))).isTrue();
        assertThat(take(port).request().id()).isOne();
    }

    @Test
    void aClosedPortHandsOutWhatWaitsAndWakesTheProgram() throws InterruptedException {
        arrives(request(1));
        List<Conversation> left = port.end();
        assertThat(left).hasSize(1);
        assertThat(port.await(TimeUnit.SECONDS.toNanos(LONG_SECONDS))).isNull();
        left.getFirst().refuse(Rejection.PROGRAM, NO_DATA);
        sends(Rejection.class);
        assertRefusedWithoutPort(request(2));
    }

    private void assertRefusedWithoutPort(ConnectRequest request) {
        arrives(request);
        assertThat(sends(Rejection.class).reason()).isEqualTo(Rejection.NOBODY_LISTENS);
    }

    @Test
    void closingAPortWakesTheProgram() {
        CompletableFuture<Conversation> waiter = waiting(() -> port.await(TimeUnit.SECONDS.toNanos(LONG_SECONDS)));
        port.end();
        assertThat(waiter.join()).isNull();
    }

    // ---- Accepting ----

    /// Whoever is named as the source of a request gets three messages at most: the request may be forged.
    @Test
    void aReplyIsRepeatedTwiceUntilThePeerIsGivenUp() throws InterruptedException {
        Conversation taken = accepting();
        assertThat(pass(699)).isOne();
        sendsNothing();
        assertThat(pass(1)).isEqualTo(1_400);
        sends(ConnectReply.class);
        assertThat(pass(1_400)).isEqualTo(2_800);
        sends(ConnectReply.class);
        assertThat(pass(2_799)).isOne();
        assertThat(state(taken)).isEqualTo(State.ACCEPTING);
        assertThat(pass(1)).isEqualTo(Long.MAX_VALUE);
        assertThat(state(taken)).isEqualTo(State.UNANSWERED);
        sendsNothing();
        // It is not asked again.
        arrives(request(THEIR_ID));
        assertThat(sends(Rejection.class).peerId()).isEqualTo(THEIR_ID);
        assertEmpty();
    }

    @Test
    void aSideThatGivesUpAfterThreeRepliesIsSilent() throws InterruptedException {
        Conversation taken = accepting();
        pass(700);
        sends(ConnectReply.class);
        pass(1_400);
        sends(ConnectReply.class);
        taken.giveUp(Rejection.PROGRAM);
        sendsNothing();
        assertThat(state(taken)).isEqualTo(State.ENDED);
    }

    @Test
    void aReceiptStopsTheRepeatingOfTheReply() throws InterruptedException {
        Conversation taken = accepting();
        arrives(receipt(taken.id(), MessageKind.REPLY));
        pass(60_000);
        sendsNothing();
        assertThat(state(taken)).isEqualTo(State.ACCEPTING);
        arrives(new ReadyToUse(THEIR_ID, taken.id()));
        assertThat(state(taken)).isEqualTo(State.CONNECTED);
    }

    @Test
    void aConfirmationOfAnotherIsIgnored() throws InterruptedException {
        Conversation taken = accepting();
        arrives(new ReadyToUse(THEIR_ID + 1, taken.id()));
        assertThat(arrives(STRANGER, new ReadyToUse(THEIR_ID, taken.id()))).isFalse();
        assertThat(arrives(new ReadyToUse(THEIR_ID, taken.id() + 1))).isFalse();
        assertThat(state(taken)).isEqualTo(State.ACCEPTING);
    }

    @Test
    void aConfirmationBeforeTheReplyIsIgnored() throws InterruptedException {
        Conversation taken = requested();
        arrives(new ReadyToUse(THEIR_ID, taken.id()));
        assertThat(state(taken)).isEqualTo(State.REQUESTED);
    }

    /// The confirmation was lost, and the peer ends the connection at once.
    @Test
    void anEndThatOvertakesTheConfirmationEndsTheConnection() throws InterruptedException {
        Conversation taken = accepting();
        arrives(new DisconnectRequest(THEIR_ID, taken.id(), OWN_NUMBER));
        sends(DisconnectReply.class);
        assertThat(state(taken)).isEqualTo(State.ENDED);
        assertThat(taken.confirm(() -> {})).isFalse();
        assertNothingIsDue();
        sendsNothing();
    }

    @Test
    void aRejectionWhileAcceptingEndsIt() throws InterruptedException {
        Conversation taken = accepting();
        arrives(new Rejection(0, taken.id(), MessageKind.REPLY, Rejection.UNKNOWN_ID));
        assertThat(state(taken)).isEqualTo(State.REFUSED);
        assertNothingIsDue();
    }

    /// The peer has not got the reply, so it does not know this side's number.
    @Test
    void aPeerThatGivesItsRequestUpWhileAcceptingEndsIt() throws InterruptedException {
        Conversation taken = accepting();
        assertThat(arrives(new Rejection(THEIR_ID, 0, MessageKind.OTHER, Rejection.TIMEOUT)))
                .isTrue();
        assertThat(state(taken)).isEqualTo(State.REFUSED);
        assertNothingIsDue();
    }

    @Test
    void aPeerThatKnowsOnlyItsOwnNumberCannotEndAConnection() throws InterruptedException {
        Conversation taken = connected(() -> {});
        arrives(new Rejection(THEIR_ID, 0, MessageKind.OTHER, Rejection.TIMEOUT));
        assertThat(state(taken)).isEqualTo(State.CONNECTED);
    }

    @Test
    void anAnswerToAPeerThatHasGivenUpDoesNothing() throws InterruptedException {
        Conversation taken = requested();
        arrives(new Rejection(THEIR_ID, 0, MessageKind.OTHER, Rejection.TIMEOUT));
        taken.accept(reply(taken.id(), THEIR_ID, OWN_NUMBER));
        assertThat(state(taken)).isEqualTo(State.REFUSED);
        taken.refuse(Rejection.PROGRAM, NO_DATA);
        sendsNothing();
        assertNothingIsDue();
    }

    /// The program learns late that a peer has given up; the peer may have asked with the same number again.
    @Test
    void anEndedConversationLeavesItsSuccessorAlone() throws InterruptedException {
        Conversation first = requested();
        arrives(new Rejection(THEIR_ID, 0, MessageKind.OTHER, Rejection.TIMEOUT));
        Conversation second = requested();
        first.refuse(Rejection.PROGRAM, NO_DATA);
        first.disconnect();
        arrives(request(THEIR_ID));
        assertThat(sends(Receipt.class).id()).isEqualTo(second.id());
        assertEmpty();
    }

    @Test
    void aSideThatGivesUpWhileAcceptingSaysSo() throws InterruptedException {
        Conversation taken = accepting();
        taken.refuse(Rejection.PROGRAM, NO_DATA);
        Rejection told = sends(Rejection.class);
        assertThat(told.id()).isEqualTo(taken.id());
        assertThat(told.peerId()).isEqualTo(THEIR_ID);
        assertThat(told.refused()).isEqualTo(MessageKind.OTHER);
        assertNothingIsDue();
        // A request that was on its way does not ask the program once more.
        arrives(request(THEIR_ID));
        assertThat(sends(Rejection.class).refused()).isEqualTo(MessageKind.REQUEST);
        assertEmpty();
    }

    /// The peer has confirmed just when the program no longer wanted to wait.
    @Test
    void aSideThatGivesUpTooLateDisconnects() throws InterruptedException {
        Conversation taken = accepting();
        arrives(new ReadyToUse(THEIR_ID, taken.id()));
        taken.refuse(Rejection.PROGRAM, NO_DATA);
        sends(DisconnectRequest.class);
        taken.refuse(Rejection.PROGRAM, NO_DATA);
        sendsNothing();
        assertRepeated(DisconnectRequest.class);
        assertThat(state(taken)).isEqualTo(State.ENDED);
    }

    @Test
    void givingUpWakesTheWaiter() throws InterruptedException {
        Conversation taken = accepting();
        CompletableFuture<State> waiter =
                waiting(() -> taken.awaitChange(State.ACCEPTING, TimeUnit.SECONDS.toNanos(LONG_SECONDS)));
        taken.giveUp(Rejection.PROGRAM);
        assertThat(waiter.join()).isEqualTo(State.ENDED);
        assertThat(sends(Rejection.class).refused()).isEqualTo(MessageKind.OTHER);
        assertNothingIsDue();
    }

    /// The program is closed between its decision and its reply.
    @Test
    void whoHasGivenUpDoesNotWaitForAConfirmation() throws InterruptedException {
        Conversation taken = requested();
        taken.giveUp(Rejection.PROGRAM);
        sendsNothing();
        taken.accept(reply(taken.id(), THEIR_ID, OWN_NUMBER));
        assertThat(taken.awaitChange(State.ACCEPTING, TimeUnit.SECONDS.toNanos(LONG_SECONDS)))
                .isEqualTo(State.ACCEPTING);
    }

    @Test
    void aPeerEndsIt() throws InterruptedException {
        AtomicInteger ends = new AtomicInteger();
        Conversation taken = connected(ends::incrementAndGet);
        arrives(new DisconnectRequest(THEIR_ID, taken.id(), OWN_NUMBER));
        sends(DisconnectReply.class);
        assertThat(ends).hasValue(1);
        // Its number is free.
        requested();
    }

    /// The peer and this side are one manager, whose addresses and numbers are in one table.
    @Test
    void aHostConnectsWithItself() throws InterruptedException {
        Loop loop = new Loop();
        ListeningPort<Conversation> own = loop.manager.listen(PORT, 1);
        Conversation asked = loop.connect();
        loop.deliver();
        Conversation taken = take(own);
        taken.accept(reply(taken.id(), asked.id(), OWN_NUMBER));
        loop.deliver();
        assertThat(asked.confirm(() -> {})).isTrue();
        loop.deliver();
        assertThat(state(taken)).isEqualTo(State.CONNECTED);
        asked.disconnect();
        taken.disconnect();
        loop.deliver();
        assertThat(state(asked)).isEqualTo(State.ENDED);
        assertThat(state(taken)).isEqualTo(State.ENDED);
        assertThat(loop.manager.onTime()).isEqualTo(Long.MAX_VALUE);
    }
}
