package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.MessageHandler;
import io.rdmacomm.comm.PeerDoneException;
import io.rdmacomm.comm.Question;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Requests;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Requests and answers, when all goes well and when it does not.
final class RequestsTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    /// Answers each request with its own bytes.
    private static final MessageHandler ECHO = (channel, request) -> {
        var _ = channel.async(TIMEOUT).send(request.segment(), request.tag());
    };

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static void ask(Requests requests, String question) {
        try (Message answer = requests.call(bytes(question), TIMEOUT)) {
            assertThat(answer.text()).isEqualTo(question);
        }
    }

    private static void endIn(List<Future<?>> threads) throws InterruptedException, ExecutionException {
        for (Future<?> thread : threads) {
            thread.get();
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void manyThreadsGetTheAnswerToTheirOwnRequest(ThreadMode mode) throws InterruptedException, ExecutionException {
        try (ConnectedPair pair = new ConnectedPair(
                        SessionOptions.defaults(), SessionOptions.defaults().withThreadMode(mode));
                ExecutorService threads = Executors.newCachedThreadPool()) {
            pair.serverChannel().onMessage(ECHO);
            Requests requests = Requests.on(pair.clientChannel());
            List<Future<?>> callers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int caller = i;
                callers.add(threads.submit(() -> {
                    for (int k = 0; k < 200; k++) {
                        ask(requests, "question " + k + " of " + caller);
                    }
                }));
            }
            endIn(callers);

            assertThat(requests.inFlight()).isZero();
            assertThat(requests.unexpected()).isZero();
        }
    }

    @Test
    void answersMayComeInAnyOrder() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            List<Integer> tags = Collections.synchronizedList(new ArrayList<>());
            pair.serverChannel().onMessage((channel, request) -> tags.add(request.tag()));
            Requests requests = Requests.on(pair.clientChannel());
            List<CompletableFuture<Message>> answers = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                answers.add(requests.async(bytes("q"), TIMEOUT));
            }
            pair.until(() -> tags.size() == 50);
            assertThat(requests.inFlight()).isEqualTo(50);
            for (int tag : tags.reversed()) {
                pair.serverChannel().blocking(TIMEOUT).send(bytes("answer " + tag), tag);
            }

            for (int i = 0; i < 50; i++) {
                try (Message answer = answers.get(i).join()) {
                    assertThat(answer.text()).isEqualTo("answer " + tags.get(i));
                }
            }
        }
    }

    @Test
    void aSliceIsSentWithoutACopy() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            pair.serverChannel().onMessage(ECHO);
            RdmaBuffer buffer = pair.client.allocate(100, 1);
            BufferSlice question = buffer.slice(10, 80);
            question.segment().fill((byte) 7);

            try (Message answer = Requests.on(pair.clientChannel()).call(question, TIMEOUT)) {
                assertThat(answer.segment().mismatch(question.segment())).isEqualTo(-1);
            }
        }
    }

    @Test
    void aLateAnswerIsDroppedAndItsReceiveIsFree() throws InterruptedException {
        SessionOptions options =
                SessionOptions.defaults().withChannel(ChannelOptions.defaults().withReceives(4));
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            BlockingQueue<Integer> tags = new LinkedBlockingQueue<>();
            pair.serverChannel().onMessage((channel, request) -> tags.add(request.tag()));
            Requests requests = Requests.on(pair.clientChannel());
            for (int i = 0; i < 20; i++) {
                assertThatThrownBy(() -> requests.call(bytes("q"), SHORT))
                        .isInstanceOf(DeadlineException.class)
                        .hasMessageContaining("no answer arrived on data-0")
                        .hasMessageContaining("50 ms");
                pair.serverChannel().blocking(TIMEOUT).send(bytes("late"), tags.take());
            }
            ConnectedPair.eventually(() -> requests.unexpected() == 20);

            pair.serverChannel().onMessage(ECHO);
            ask(requests, "on time");
        }
    }

    @Test
    void aFutureFailsInTime() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            CompletableFuture<Message> answer =
                    Requests.on(pair.clientChannel()).async(bytes("nobody answers"), SHORT);

            assertThatThrownBy(answer::join).hasCauseInstanceOf(DeadlineException.class);
        }
    }

    @Test
    void anAnswerToACancelledFutureIsClosed() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            BlockingQueue<Integer> tags = new LinkedBlockingQueue<>();
            pair.serverChannel().onMessage((channel, request) -> tags.add(request.tag()));
            Requests requests = Requests.on(pair.clientChannel());
            CompletableFuture<Message> answer = requests.async(bytes("q"), TIMEOUT);
            int tag = tags.take();

            assertThat(answer.cancel(false)).isTrue();
            assertThat(requests.inFlight()).isZero();
            pair.serverChannel().blocking(TIMEOUT).send(bytes("late"), tag);

            ConnectedPair.eventually(() -> requests.unexpected() == 1);
        }
    }

    @Test
    void messagesThatAnswerNothingAreClosed() {
        SessionOptions options =
                SessionOptions.defaults().withChannel(ChannelOptions.defaults().withReceives(4));
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            Requests requests = Requests.on(pair.clientChannel());
            for (int i = 0; i < 20; i++) {
                pair.serverChannel().blocking(TIMEOUT).send(bytes("no tag"));
                pair.serverChannel().blocking(TIMEOUT).send(bytes("unknown tag"), -i);
            }
            ConnectedPair.eventually(() -> requests.unexpected() == 40);
        }
    }

    @Test
    void theEndOfTheServerEndsTheWait() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            pair.serverChannel().onMessage((channel, request) -> pair.serverEnd.closeLater());
            Requests requests = Requests.on(pair.clientChannel());

            assertThatThrownBy(() -> requests.call(bytes("q"), TIMEOUT)).isInstanceOf(PeerDoneException.class);
            assertThatThrownBy(() -> requests.call(bytes("q"), TIMEOUT)).isInstanceOf(ClosedException.class);
            assertThat(requests.inFlight()).isZero();
        }
    }

    @Test
    void aFailureEndsTheWait() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            pair.serverChannel()
                    .onMessage((channel, request) -> pair.serverEnd.abort(3, new RdmaException("no more", null)));
            Requests requests = Requests.on(pair.clientChannel());

            assertThatThrownBy(() -> requests.call(bytes("q"), TIMEOUT))
                    .isInstanceOf(ClosedException.class)
                    .hasMessageContaining("no more");
        }
    }

    @Test
    void closingThisSideEndsTheWait() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            Requests requests = Requests.on(pair.clientChannel());
            CompletableFuture<Message> answer = requests.async(bytes("q"), TIMEOUT);

            pair.clientEnd.close();

            assertThatThrownBy(answer::join).hasCauseInstanceOf(ClosedException.class);
        }
    }

    @Test
    void anInterruptEndsTheWait() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            Thread caller = Thread.currentThread();
            pair.serverChannel().onMessage((channel, request) -> caller.interrupt());
            Requests requests = Requests.on(pair.clientChannel());

            assertThatThrownBy(() -> requests.call(bytes("q"), TIMEOUT)).isInstanceOf(RdmaInterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(requests.inFlight()).isZero();
        }
    }

    @Test
    void aHandlerMustNotCall() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            BlockingQueue<Integer> tags = new LinkedBlockingQueue<>();
            pair.serverChannel().onMessage((channel, request) -> tags.add(request.tag()));
            Requests requests = Requests.on(pair.clientChannel());
            CompletableFuture<Message> fromHandler = requests.async(bytes("q"), TIMEOUT)
                    .thenApply(answer -> {
                        answer.close();
                        return requests.call(bytes("in a handler"), TIMEOUT);
                    });
            pair.serverChannel().blocking(TIMEOUT).send(bytes("a"), tags.take());

            assertThatThrownBy(fromHandler::join).hasCauseInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aRequestThatIsTooLongCostsNothing() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            pair.serverChannel().onMessage(ECHO);
            Requests requests = Requests.on(pair.clientChannel());

            assertThatThrownBy(() -> requests.call(new byte[1 << 20], TIMEOUT))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(requests.inFlight()).isZero();
            ask(requests, "the next");
        }
    }

    /// Answers each question with its own bytes, on threads of its own and in any order.
    private static Requests echoing(RdmaChannel channel, ExecutorService threads) {
        return Requests.on(
                channel,
                question -> threads.execute(() -> {
                    try (question) {
                        question.answer(question.message().segment()).join();
                    }
                }));
    }

    @ParameterizedTest
    @EnumSource(names = {"SHARED_CQ", "PER_QUEUE_PAIR"})
    void bothSidesAskOnOneChannel(ThreadMode mode) throws InterruptedException, ExecutionException {
        SessionOptions options = SessionOptions.defaults().withThreadMode(mode);
        try (ConnectedPair pair = ConnectedPair.of(options);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Requests> sides =
                    List.of(echoing(pair.clientChannel(), threads), echoing(pair.serverChannel(), threads));
            List<Future<?>> callers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int caller = i;
                callers.add(threads.submit(() -> {
                    for (int k = 0; k < 200; k++) {
                        ask(sides.get(caller % 2), "question " + k + " of " + caller);
                    }
                }));
            }
            endIn(callers);
            for (Requests side : sides) {
                assertThat(side.inFlight()).isZero();
                assertThat(side.unexpected()).isZero();
            }
        }
    }

    @Test
    void aQuestionIsAnsweredOnce() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            BlockingQueue<Question> questions = new LinkedBlockingQueue<>();
            Requests.on(pair.serverChannel(), questions::add);
            Requests requests = Requests.on(pair.clientChannel(), Question::close);
            CompletableFuture<Message> answer = requests.async(bytes("q"), TIMEOUT);
            Question question = questions.take();

            assertThat(question.message().text()).isEqualTo("q");
            assertThatThrownBy(() -> question.answer(new byte[1 << 20])).isInstanceOf(IllegalArgumentException.class);
            question.answer(bytes("a")).join();
            try (Message arrived = answer.join()) {
                assertThat(arrived.text()).isEqualTo("a");
            }
            assertThatThrownBy(() -> question.answer(bytes("b")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("question 1 on ")
                    .hasMessageContaining("answer each question once");
            question.close();
            question.close();
            assertThatThrownBy(() -> question.message().text()).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aQuestionThatNobodyAnswersEndsInTimeAndFreesItsReceive() {
        SessionOptions options =
                SessionOptions.defaults().withChannel(ChannelOptions.defaults().withReceives(4));
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            Requests.on(pair.serverChannel(), question -> {
                if (question.message().text().equals("throw")) {
                    throw new IllegalArgumentException("a test");
                }
                question.close();
            });
            Requests requests = Requests.on(pair.clientChannel(), Question::close);
            for (int i = 0; i < 10; i++) {
                String text = i % 2 == 0 ? "throw" : "close";
                assertThatThrownBy(() -> requests.call(bytes(text), SHORT)).isInstanceOf(DeadlineException.class);
            }
            assertThat(requests.inFlight()).isZero();
        }
    }

    @Test
    void anAnswerByWriteIsANotice() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer target = pair.client.allocate("target", 64);
            pair.clientEnd.announce(target, AccessFlag.allRemote());
            RemoteBuffer remote = pair.serverEnd.peerBuffer("target", TIMEOUT);
            RdmaBuffer source = pair.server.allocate("source", 64);
            source.segment().fill((byte) 5);
            Requests.on(pair.serverChannel(), question -> {
                try (question) {
                    var _ = question.answerByWrite(source.slice(0, 8), remote, 16);
                }
            });
            Requests requests = Requests.on(pair.clientChannel(), Question::close);
            try (Message answer = requests.call(bytes("q"), TIMEOUT)) {
                assertThat(answer.isNotice()).isTrue();
                assertThat(answer.length()).isEqualTo(8);
                assertThat(target.segment().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(0x0505050505050505L);
            }
        }
    }

    @Test
    void anAnswerAfterTheEndFails() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            BlockingQueue<Question> questions = new LinkedBlockingQueue<>();
            Requests.on(pair.serverChannel(), questions::add);
            var _ = Requests.on(pair.clientChannel(), Question::close).async(bytes("q"), TIMEOUT);
            try (Question question = questions.take()) {
                pair.clientEnd.close();
                pair.serverEnd.close();
                assertThatThrownBy(() -> question.answer(bytes("a"))).isInstanceOf(ClosedException.class);
            }
        }
    }
}
