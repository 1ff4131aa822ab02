package io.rdmacomm.soft.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ProgramAddress;
import io.rdmacomm.soft.roce.mad.ServiceReply;
import io.rdmacomm.soft.roce.mad.ServiceRequest;
import io.rdmacomm.verbs.Gid;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Questions for the queue pair of a datagram service.
@Timeout(60)
class DatagramServiceTest extends ManagerCase {
    private static final int QUEUE_KEY = 0x01234567;
    private static final long SERVICE = PortSpace.DATAGRAMS.service(PORT);
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(LONG_SECONDS);

    private Inquiry ask() {
        Inquiry inquiry = manager.inquire(THERE, id -> question(id, SERVICE));
        assertThat(sends(ServiceRequest.class).id()).isEqualTo(inquiry.id);
        return inquiry;
    }

    private static ServiceRequest question(int id, long service) {
        return new ServiceRequest(id, service, new ProgramAddress(0, Gid.of(THERE), Gid.of(HERE)), new byte[] {4});
    }

    private static ServiceReply answer(int id, int queuePair) {
        return new ServiceReply(id, ServiceReply.FOUND, queuePair, SERVICE, QUEUE_KEY, new byte[] {5});
    }

    private ListeningPort<ServiceInquiry> listenForDatagrams(int backlog) {
        ListeningPort<ServiceInquiry> port = manager.listenForDatagrams(PORT, backlog);
        assertThat(port).isNotNull();
        return port;
    }

    // ---- This side asks ----

    @Test
    void anAnswerEndsTheQuestion() throws InterruptedException {
        try (Inquiry inquiry = ask()) {
            CompletableFuture<ServiceReply> waiter = waiting(() -> inquiry.await(LONG_NANOS));
            assertThat(arrives(answer(inquiry.id, THEIR_NUMBER))).isTrue();
            assertThat(waiter.join().queuePair()).isEqualTo(THEIR_NUMBER);
            assertThat(inquiry.isUnanswered()).isFalse();
            assertNothingIsDue();
        }
        sendsNothing();
    }

    @Test
    void aSecondAnswerDoesNotReplaceTheFirst() throws InterruptedException {
        try (Inquiry inquiry = ask()) {
            arrives(answer(inquiry.id, THEIR_NUMBER));
            arrives(answer(inquiry.id, THEIR_NUMBER + 1));
            assertThat(inquiry.await(0).queuePair()).isEqualTo(THEIR_NUMBER);
        }
    }

    @Test
    void aQuestionIsRepeatedUntilThePeerIsGivenUp() throws InterruptedException {
        try (Inquiry inquiry = ask()) {
            CompletableFuture<ServiceReply> waiter = waiting(() -> inquiry.await(LONG_NANOS));
            assertRepeated(ServiceRequest.class);
            assertThat(waiter.join()).isNull();
            assertThat(inquiry.isUnanswered()).isTrue();
            assertNothingIsDue();
        }
    }

    @Test
    void theAnswerOfAStrangerIsIgnored() throws InterruptedException {
        try (Inquiry inquiry = ask()) {
            assertThat(arrives(STRANGER, answer(inquiry.id, THEIR_NUMBER))).isFalse();
            assertThat(arrives(answer(inquiry.id + 1, THEIR_NUMBER))).isFalse();
            assertThat(inquiry.await(0)).isNull();
            assertThat(inquiry.isUnanswered()).isFalse();
            pass(REPEAT_MILLIS);
            sends(ServiceRequest.class);
        }
    }

    /// Numbers of questions and of connections are in one table.
    @Test
    void anAnswerToAQuestionIsNoAnswerToARequest() throws InterruptedException {
        Conversation asked = connect();
        assertThat(arrives(answer(asked.id(), THEIR_NUMBER))).isFalse();
        assertThat(state(asked)).isEqualTo(Conversation.State.REQUESTING);
        try (Inquiry inquiry = ask()) {
            assertThat(arrives(reply(THEIR_ID, inquiry.id, THEIR_NUMBER))).isFalse();
            assertThat(inquiry.await(0)).isNull();
        }
    }

    @Test
    void closingWakesTheWaiterAndForgetsTheQuestion() {
        Inquiry inquiry = ask();
        CompletableFuture<ServiceReply> waiter = waiting(() -> inquiry.await(LONG_NANOS));
        inquiry.close();
        assertThat(waiter.join()).isNull();
        assertNothingIsDue();
        assertThat(arrives(answer(inquiry.id, THEIR_NUMBER))).isFalse();
        inquiry.close();
        sendsNothing();
    }

    // ---- A peer asks ----

    @ParameterizedTest
    @ValueSource(longs = {0x0111_0000L + PORT + 1, 0x0106_0000L + PORT, 0x013f_0000L + PORT, PORT})
    void whereNobodyListensQuestionsAreRefused(long service) {
        var _ = listen(1);
        var _ = listenForDatagrams(1);
        assertThat(arrives(question(THEIR_ID, service))).isTrue();
        assertThat(sends(ServiceReply.class))
                .usingRecursiveComparison()
                .isEqualTo(new ServiceReply(THEIR_ID, ServiceReply.NOBODY_LISTENS, 0, service, 0, new byte[136]));
        assertThat(lastTransaction).isEqualTo(TRANSACTION);
    }

    @Test
    void aQuestionIsAskedOnceAndAnsweredOnce() throws InterruptedException {
        ListeningPort<ServiceInquiry> port = listenForDatagrams(2);
        arrives(question(THEIR_ID, SERVICE));
        arrives(question(THEIR_ID, SERVICE));
        ServiceInquiry taken = port.await(0);
        arrives(question(THEIR_ID, SERVICE));
        assertThat(port.await(0)).isNull();
        sendsNothing();
        assertThat(taken.request().privateData()).isEqualTo(padded(180, 4));
        taken.answer(ServiceReply.FOUND, OWN_NUMBER, QUEUE_KEY, new byte[] {6});
        assertThat(sends(ServiceReply.class))
                .usingRecursiveComparison()
                .isEqualTo(
                        new ServiceReply(THEIR_ID, ServiceReply.FOUND, OWN_NUMBER, SERVICE, QUEUE_KEY, padded(136, 6)));
        assertThat(lastTransaction).isEqualTo(TRANSACTION);
        taken.answer(ServiceReply.REJECTED, 0, 0, new byte[0]);
        sendsNothing();
    }

    @Test
    void theAnswerWasLostAndTheProgramIsAskedAgain() throws InterruptedException {
        ListeningPort<ServiceInquiry> port = listenForDatagrams(2);
        arrives(question(THEIR_ID, SERVICE));
        ServiceInquiry first = port.await(0);
        first.answer(ServiceReply.REJECTED, 0, 0, new byte[0]);
        assertThat(sends(ServiceReply.class).status()).isEqualTo(ServiceReply.REJECTED);
        arrives(question(THEIR_ID, SERVICE));
        ServiceInquiry second = port.await(0);
        assertThat(second).isNotNull();
        first.answer(ServiceReply.FOUND, OWN_NUMBER, QUEUE_KEY, new byte[0]);
        sendsNothing();
        second.answer(ServiceReply.FOUND, OWN_NUMBER, QUEUE_KEY, new byte[0]);
        sends(ServiceReply.class);
    }

    @Test
    void aFullBacklogDropsQuestions() throws InterruptedException {
        ListeningPort<ServiceInquiry> port = listenForDatagrams(1);
        assertThat(arrives(question(1, SERVICE))).isTrue();
        assertThat(arrives(question(2, SERVICE))).isFalse();
        assertThat(port.await(0).request().id()).isOne();
        assertThat(arrives(question(2, SERVICE))).isTrue();
        assertThat(port.await(0).request().id()).isEqualTo(2);
        sendsNothing();
    }

    @Test
    void closingThePortWakesTheProgram() throws InterruptedException {
        ListeningPort<ServiceInquiry> port = listenForDatagrams(1);
        CompletableFuture<ServiceInquiry> waiter = waiting(() -> port.await(LONG_NANOS));
        assertThat(port.end()).isEmpty();
        assertThat(waiter.join()).isNull();
        arrives(question(THEIR_ID, SERVICE));
        assertThat(sends(ServiceReply.class).status()).isEqualTo(ServiceReply.NOBODY_LISTENS);
    }
}
