package io.rdmacomm.soft.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.roce.cm.Conversation.State;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.DisconnectReply;
import io.rdmacomm.soft.roce.mad.DisconnectRequest;
import io.rdmacomm.soft.roce.mad.MessageKind;
import io.rdmacomm.soft.roce.mad.ReadyToUse;
import io.rdmacomm.soft.roce.mad.Receipt;
import io.rdmacomm.soft.roce.mad.Rejection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The side that asks for a connection.
@Timeout(60)
class RequestingTest extends ManagerCase {
    private static final long TIMEOUT_MILLIS = 68_720;

    /// A connection that this side has asked for.
    private Conversation connected(Runnable onEnd) {
        Conversation asked = connect();
        arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER));
        assertThat(asked.confirm(onEnd)).isTrue();
        sends(ReadyToUse.class);
        return asked;
    }

    @Test
    void theUsualExchange() throws InterruptedException {
        Conversation asked = connect();
        long transaction = lastTransaction;
        assertThat(wakeups).isOne();
        assertThat(state(asked)).isEqualTo(State.REQUESTING);
        assertThat(arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER))).isTrue();
        assertThat(state(asked)).isEqualTo(State.ACCEPTED);
        assertThat(asked.reply().queuePair()).isEqualTo(THEIR_NUMBER);
        assertNothingIsDue();
        sendsNothing();
        assertThat(asked.confirm(() -> {})).isTrue();
        assertThat(sends(ReadyToUse.class)).isEqualTo(new ReadyToUse(asked.id(), THEIR_ID));
        assertThat(lastTransaction).isEqualTo(transaction);
        assertThat(state(asked)).isEqualTo(State.CONNECTED);
        asked.disconnect();
        assertThat(sends(DisconnectRequest.class)).isEqualTo(new DisconnectRequest(asked.id(), THEIR_ID, THEIR_NUMBER));
        assertThat(state(asked)).isEqualTo(State.DISCONNECTING);
        assertThat(arrives(new DisconnectReply(THEIR_ID, asked.id()))).isTrue();
        assertThat(state(asked)).isEqualTo(State.ENDED);
        assertNothingIsDue();
        sendsNothing();
    }

    @Test
    void aRequestIsRepeatedUntilThePeerIsGivenUp() throws InterruptedException {
        Conversation asked = connect();
        CompletableFuture<State> waiter =
                waiting(() -> asked.awaitChange(State.REQUESTING, TimeUnit.SECONDS.toNanos(LONG_SECONDS)));
        assertRepeated(ConnectRequest.class);
        assertThat(waiter.join()).isEqualTo(State.UNANSWERED);
        assertNothingIsDue();
        // The peer may be about to accept.
        assertThat(sends(Rejection.class))
                .usingRecursiveComparison()
                .isEqualTo(new Rejection(asked.id(), 0, MessageKind.REQUEST, Rejection.TIMEOUT, GUID, new byte[148]));
        sendsNothing();
    }

    @Test
    void aReceiptStopsTheRepeatingForTheTimeThatItSays() throws InterruptedException {
        Conversation asked = connect();
        assertThat(arrives(receipt(asked.id(), MessageKind.REQUEST))).isTrue();
        assertThat(pass(TIMEOUT_MILLIS - 2)).isBetween(1L, 2L);
        sendsNothing();
        assertThat(state(asked)).isEqualTo(State.REQUESTING);
        // Then it asks again: the peer may have forgotten.
        pass(2);
        sends(ConnectRequest.class);
        for (int i = 1; i < REPEATS; i++) {
            pass(REPEAT_MILLIS);
            sends(ConnectRequest.class);
        }
        pass(REPEAT_MILLIS);
        assertThat(state(asked)).isEqualTo(State.UNANSWERED);
    }

    /// The backlog of the peer is full again and again: the program decides how long it waits.
    @Test
    void aPeerThatIsBusyIsAskedAsLongAsTheProgramWants() throws InterruptedException {
        Conversation asked = connect();
        for (int i = 0; i < 1000; i++) {
            arrives(new Receipt(0, asked.id(), MessageKind.REQUEST, 18));
            pass(1_000);
            sendsNothing();
            pass(100);
            sends(ConnectRequest.class);
        }
        assertThat(state(asked)).isEqualTo(State.REQUESTING);
    }

    @Test
    void aReplyAfterAReceiptIsTaken() throws InterruptedException {
        Conversation asked = connect();
        arrives(receipt(asked.id(), MessageKind.REQUEST));
        pass(60_000);
        arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER));
        assertThat(state(asked)).isEqualTo(State.ACCEPTED);
        assertNothingIsDue();
    }

    @ParameterizedTest
    @EnumSource(
            value = MessageKind.class,
            names = {"REPLY", "OTHER"})
    void aReceiptForSomethingElseChangesNothing(MessageKind kind) {
        Conversation asked = connect();
        arrives(receipt(asked.id(), kind));
        pass(REPEAT_MILLIS);
        sends(ConnectRequest.class);
    }

    /// Linux sends none, but others might.
    @Test
    void receiptsForAConnectionOrItsEndChangeNothing() throws InterruptedException {
        Conversation asked = connected(() -> {});
        for (MessageKind kind : MessageKind.values()) {
            arrives(receipt(asked.id(), kind));
        }
        assertNothingIsDue();
        asked.disconnect();
        sends(DisconnectRequest.class);
        for (MessageKind kind : MessageKind.values()) {
            arrives(receipt(asked.id(), kind));
        }
        assertRepeated(DisconnectRequest.class);
        assertThat(state(asked)).isEqualTo(State.ENDED);
    }

    /// 2.4 hours, which the program need not wait for.
    @Test
    void theLongestTimeOfAReceiptIsNoOverflow() throws InterruptedException {
        Conversation asked = connect();
        arrives(new Receipt(THEIR_ID, asked.id(), MessageKind.REQUEST, 31));
        pass(8_000_000);
        assertThat(state(asked)).isEqualTo(State.REQUESTING);
        sendsNothing();
        pass(800_000);
        sends(ConnectRequest.class);
    }

    @Test
    void aRepeatedReplyIsConfirmedAgain() throws InterruptedException {
        Conversation asked = connected(() -> {});
        arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER));
        sends(ReadyToUse.class);
        // From somebody else.
        arrives(reply(THEIR_ID + 1, asked.id(), THEIR_NUMBER));
        sendsNothing();
        assertThat(state(asked)).isEqualTo(State.CONNECTED);
    }

    @Test
    void aSecondReplyDoesNotReplaceTheFirst() {
        Conversation asked = connect();
        arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER));
        arrives(reply(THEIR_ID + 1, asked.id(), THEIR_NUMBER + 1));
        assertThat(asked.reply().queuePair()).isEqualTo(THEIR_NUMBER);
        asked.confirm(() -> {});
        assertThat(sends(ReadyToUse.class).peerId()).isEqualTo(THEIR_ID);
        sendsNothing();
    }

    @Test
    void aReplyToNobodyIsRejected() {
        assertThat(arrives(reply(THEIR_ID, 77, THEIR_NUMBER))).isFalse();
        Rejection answer = sends(Rejection.class);
        assertThat(answer.reason()).isEqualTo(Rejection.UNKNOWN_ID);
        assertThat(answer.peerId()).isEqualTo(THEIR_ID);
        assertThat(answer.refused()).isEqualTo(MessageKind.REPLY);
        assertThat(lastTransaction).isEqualTo(TRANSACTION);
    }

    @Test
    void aReplyThatComesTooLateIsRejected() throws InterruptedException {
        Conversation asked = connect();
        asked.refuse(Rejection.TIMEOUT, new byte[0]);
        assertThat(sends(Rejection.class))
                .usingRecursiveComparison()
                .isEqualTo(new Rejection(asked.id(), 0, MessageKind.REQUEST, Rejection.TIMEOUT, GUID, new byte[148]));
        assertNothingIsDue();
        assertThat(arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER))).isFalse();
        assertThat(sends(Rejection.class).reason()).isEqualTo(Rejection.UNKNOWN_ID);
        assertThat(state(asked)).isEqualTo(State.ENDED);
    }

    @Test
    void aReplyOfAStrangerIsRejectedAndChangesNothing() throws InterruptedException {
        Conversation asked = connect();
        assertThat(arrives(STRANGER, reply(THEIR_ID, asked.id(), THEIR_NUMBER))).isFalse();
        sends(STRANGER, Rejection.class);
        assertThat(state(asked)).isEqualTo(State.REQUESTING);
    }

    @Test
    void aRejectionEndsIt() throws InterruptedException {
        Conversation asked = connect();
        assertThat(arrives(new Rejection(0, asked.id(), MessageKind.REQUEST, Rejection.PROGRAM, 0, new byte[] {3})))
                .isTrue();
        assertThat(state(asked)).isEqualTo(State.REFUSED);
        assertThat(asked.refusal().reason()).isEqualTo(Rejection.PROGRAM);
        assertThat(asked.refusal().privateData()).isEqualTo(padded(148, 3));
        assertNothingIsDue();
        assertThat(asked.confirm(() -> {})).isFalse();
        asked.disconnect();
        asked.refuse(Rejection.TIMEOUT, new byte[0]);
        sendsNothing();
    }

    @Test
    void aRejectionOfAStrangerIsIgnored() throws InterruptedException {
        Conversation asked = connect();
        assertThat(arrives(STRANGER, new Rejection(0, asked.id(), MessageKind.REQUEST, Rejection.PROGRAM)))
                .isFalse();
        assertThat(arrives(new Rejection(0, asked.id() + 1, MessageKind.REQUEST, Rejection.PROGRAM)))
                .isFalse();
        assertThat(state(asked)).isEqualTo(State.REQUESTING);
        pass(REPEAT_MILLIS);
        sends(ConnectRequest.class);
    }

    /// The peer has waited for the confirmation in vain, and is not connected.
    @Test
    void aPeerThatGivesUpAfterItsReplyEndsTheConnection() throws InterruptedException {
        AtomicInteger ends = new AtomicInteger();
        Conversation asked = connected(ends::incrementAndGet);
        Rejection rejection = new Rejection(THEIR_ID, asked.id(), MessageKind.OTHER, Rejection.PROGRAM);
        assertThat(arrives(STRANGER, rejection)).isFalse();
        arrives(new Rejection(THEIR_ID + 1, asked.id(), MessageKind.OTHER, Rejection.PROGRAM));
        arrives(new Rejection(0, asked.id(), MessageKind.OTHER, Rejection.PROGRAM));
        assertThat(state(asked)).isEqualTo(State.CONNECTED);
        assertThat(arrives(rejection)).isTrue();
        assertThat(state(asked)).isEqualTo(State.ENDED);
        assertThat(ends).hasValue(1);
        sendsNothing();
    }

    @Test
    void aPeerThatGivesUpWhileTheQueuePairIsBroughtUpEndsTheConnection() throws InterruptedException {
        Conversation asked = connect();
        arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER));
        arrives(new Rejection(THEIR_ID, asked.id(), MessageKind.OTHER, Rejection.PROGRAM));
        assertThat(asked.confirm(() -> {})).isFalse();
        sendsNothing();
        assertThat(state(asked)).isNotIn(State.ACCEPTED, State.CONNECTED);
    }

    @Test
    void aPeerThatDisconnectsWhileTheQueuePairIsBroughtUpGetsItsAnswer() throws InterruptedException {
        Conversation asked = connect();
        arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER));
        arrives(new DisconnectRequest(THEIR_ID, asked.id(), OWN_NUMBER));
        assertThat(sends(DisconnectReply.class)).isEqualTo(new DisconnectReply(asked.id(), THEIR_ID));
        assertThat(asked.confirm(() -> {})).isFalse();
        sendsNothing();
    }

    @Test
    void aSideThatGivesUpAfterTheReplySaysSo() throws InterruptedException {
        Conversation asked = connect();
        arrives(reply(THEIR_ID, asked.id(), THEIR_NUMBER));
        asked.refuse(Rejection.TIMEOUT, new byte[0]);
        Rejection sent = sends(Rejection.class);
        assertThat(sent.id()).isEqualTo(asked.id());
        assertThat(sent.peerId()).isEqualTo(THEIR_ID);
        assertThat(sent.refused()).isEqualTo(MessageKind.REPLY);
        assertThat(sent.guid()).isEqualTo(GUID);
        assertThat(state(asked)).isEqualTo(State.ENDED);
    }

    @Test
    void givingUpWakesTheWaiter() throws InterruptedException {
        Conversation asked = connect();
        CompletableFuture<State> waiter =
                waiting(() -> asked.awaitChange(State.REQUESTING, TimeUnit.SECONDS.toNanos(LONG_SECONDS)));
        asked.giveUp(Rejection.TIMEOUT);
        assertThat(waiter.join()).isEqualTo(State.ENDED);
        Rejection told = sends(Rejection.class);
        assertThat(told.reason()).isEqualTo(Rejection.TIMEOUT);
        assertThat(told.guid()).isEqualTo(GUID);
        assertNothingIsDue();
    }

    @Test
    void givingUpLeavesAConnectionAlone() throws InterruptedException {
        Conversation asked = connected(() -> {});
        asked.giveUp(Rejection.TIMEOUT);
        assertThat(state(asked)).isEqualTo(State.CONNECTED);
        sendsNothing();
    }

    // ---- The end ----

    @Test
    void aPeerEndsIt() throws InterruptedException {
        AtomicInteger ends = new AtomicInteger();
        Conversation asked = connected(ends::incrementAndGet);
        DisconnectRequest request = new DisconnectRequest(THEIR_ID, asked.id(), OWN_NUMBER);
        assertThat(arrives(request)).isTrue();
        assertThat(sends(DisconnectReply.class)).isEqualTo(new DisconnectReply(asked.id(), THEIR_ID));
        assertThat(state(asked)).isEqualTo(State.ENDED);
        assertThat(ends).hasValue(1);
        // The answer was lost.
        assertThat(arrives(request)).isFalse();
        assertThat(sends(DisconnectReply.class)).isEqualTo(new DisconnectReply(asked.id(), THEIR_ID));
        assertThat(ends).hasValue(1);
        asked.disconnect();
        sendsNothing();
    }

    @Test
    void nobodyElseEndsIt() throws InterruptedException {
        AtomicInteger ends = new AtomicInteger();
        Conversation asked = connected(ends::incrementAndGet);
        arrives(new DisconnectRequest(THEIR_ID, asked.id(), OWN_NUMBER + 1));
        arrives(new DisconnectRequest(THEIR_ID + 1, asked.id(), OWN_NUMBER));
        sendsNothing();
        assertThat(arrives(STRANGER, new DisconnectRequest(THEIR_ID, asked.id(), OWN_NUMBER)))
                .isFalse();
        sends(STRANGER, DisconnectReply.class);
        assertThat(state(asked)).isEqualTo(State.CONNECTED);
        assertThat(ends).hasValue(0);
        sendsNothing();
    }

    /// Before the reply, the peer's number is not known; 0 is none.
    @Test
    void whatIsNotConnectedCannotBeEnded() throws InterruptedException {
        Conversation asked = connect();
        arrives(new DisconnectRequest(0, asked.id(), OWN_NUMBER));
        sendsNothing();
        assertThat(state(asked)).isEqualTo(State.REQUESTING);
    }

    @Test
    void theEndIsRepeatedUntilThePeerIsGivenUp() throws InterruptedException {
        Conversation asked = connected(() -> {});
        asked.disconnect();
        sends(DisconnectRequest.class);
        asked.disconnect();
        sendsNothing();
        assertRepeated(DisconnectRequest.class);
        assertThat(state(asked)).isEqualTo(State.ENDED);
        sendsNothing();
    }

    @Test
    void bothEndItAtOnce() throws InterruptedException {
        AtomicInteger ends = new AtomicInteger();
        Conversation asked = connected(ends::incrementAndGet);
        asked.disconnect();
        sends(DisconnectRequest.class);
        arrives(new DisconnectRequest(THEIR_ID, asked.id(), OWN_NUMBER));
        sends(DisconnectReply.class);
        assertThat(state(asked)).isEqualTo(State.ENDED);
        assertThat(arrives(new DisconnectReply(THEIR_ID, asked.id()))).isFalse();
        assertNothingIsDue();
        sendsNothing();
    }

    @Test
    void answersToNoQuestionAreIgnored() throws InterruptedException {
        Conversation asked = connected(() -> {});
        arrives(new DisconnectReply(THEIR_ID, asked.id()));
        arrives(new ReadyToUse(THEIR_ID, asked.id()));
        assertThat(state(asked)).isEqualTo(State.CONNECTED);
        asked.disconnect();
        sends(DisconnectRequest.class);
        arrives(new DisconnectReply(THEIR_ID + 1, asked.id()));
        assertThat(arrives(STRANGER, new DisconnectReply(THEIR_ID, asked.id()))).isFalse();
        assertThat(state(asked)).isEqualTo(State.DISCONNECTING);
        sendsNothing();
    }

    @Test
    void messagesForUnknownNumbersAreAnsweredWhereThePeerWaits() {
        assertThat(arrives(new DisconnectRequest(THEIR_ID, 77, OWN_NUMBER))).isFalse();
        assertThat(sends(DisconnectReply.class)).isEqualTo(new DisconnectReply(77, THEIR_ID));
        assertThat(lastTransaction).isEqualTo(TRANSACTION);
        assertThat(arrives(new DisconnectReply(THEIR_ID, 77))).isFalse();
        assertThat(arrives(new ReadyToUse(THEIR_ID, 77))).isFalse();
        assertThat(arrives(receipt(77, MessageKind.REQUEST))).isFalse();
        assertThat(arrives(new Rejection(THEIR_ID, 77, MessageKind.REQUEST, 28)))
                .isFalse();
        assertThat(arrives(new Rejection(THEIR_ID, 0, MessageKind.REQUEST, 4))).isFalse();
        sendsNothing();
    }

    // ---- Numbers and ports ----

    /// Nothing is left of it, and nothing waits for an answer.
    @Test
    void aRequestThatCannotBeMadeLeavesNothing() {
        int[] made = new int[1];
        assertThatThrownBy(() -> manager.connect(THERE, id -> {
                    made[0] = id;
                    throw new IllegalStateException("the queue pair is closed");
                }))
                .hasMessage("the queue pair is closed");
        assertNothingIsDue();
        assertThat(arrives(reply(THEIR_ID, made[0], THEIR_NUMBER))).isFalse();
        assertThat(sends(Rejection.class).reason()).isEqualTo(Rejection.UNKNOWN_ID);
    }

    @Test
    void aPortIsTakenOnce() {
        assertThat(manager.takePort(PORT)).isEqualTo(PORT);
        assertThat(manager.takePort(PORT)).isZero();
        assertThat(manager.listen(PORT, 1)).isNull();
        manager.returnPort(PORT);
        assertThat(manager.listen(PORT, 1)).isNotNull();
        assertThat(manager.takePort(PORT)).isZero();
        assertThat(manager.listen(PORT, 1)).isNull();
        assertThat(manager.listenForDatagrams(PORT, 1)).as("ports of their own").isNotNull();
    }

    @Test
    void portsRunOut() {
        int count = 0;
        while (manager.takePort(0) != 0) {
            count++;
        }
        assertThat(count).isEqualTo(60999 - 32768 + 1);
        assertThat(manager.listen(0, 1)).isNull();
        manager.returnPort(50000);
        assertThat(manager.takePort(0)).isEqualTo(50000);
    }

    /// The programs of a port may end it twice, and its number may belong to others by then.
    @Test
    void aPortThatEndsTwiceDoesNotEndItsSuccessor() throws InterruptedException {
        ListeningPort<Conversation> first = listen(1);
        assertThat(first.end()).isEmpty();
        ListeningPort<Conversation> second = listen(1);
        assertThat(first.end()).isEmpty();
        arrives(request(THEIR_ID));
        assertThat(take(second).peer()).isEqualTo(THERE);
    }
}
