package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Requests to the peer of a channel, and its answers. Any number of threads may ask at the same time, and the
/// answers may come in any order. Thread-safe.
///
/// Each request is a message with a unique number as its tag. The peer answers with a message, or a WRITE with a
/// notice, that has the same tag:
///
/// ```java
/// Requests requests = Requests.on(client.endPoint().channel(0));
/// try (Message answer = requests.call(question, Duration.ofSeconds(1))) {
///     IO.println(answer.text());
/// }
/// // The server:
/// channel.onMessage((from, question) -> from.async().send(answerTo(question), question.tag()));
/// ```
///
/// If both sides ask, both call [#on(RdmaChannel, Consumer)] instead; an answer then has the highest bit of its tag
/// set, and a question has not:
///
/// ```java
/// Requests requests = Requests.on(channel, question -> executor.execute(() -> {
///     try (question) {
///         question.answer(answerTo(question.message()));
///     }
/// }));
/// ```
///
/// It receives all messages of the channel, so the program must not receive there itself. An answer that comes too
/// late, and any message that answers no request, is closed and counted in [#unexpected()].
///
/// All calls throw what [BlockingChannel] throws for bad arguments. They fail with [DeadlineException] if there
/// is no answer in time, with [ClosedException] if the channel is closed or fails, and with
/// [PeerDoneException] if the peer ends the connection in an orderly way without an answer. **After a
/// [DeadlineException] or an [RdmaInterruptedException] a slice may still be in flight**; see
/// [BlockingChannel].
public final class Requests {
    /// The bits of the number of a request, where both sides ask.
    static final int NUMBERS = Integer.MAX_VALUE;

    private static final int ANSWER = Integer.MIN_VALUE;

    private final RdmaChannel channel;
    private final @Nullable Consumer<Question> answerer;
    private final ConcurrentMap<Integer, Request> waiting = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private final AtomicLong unexpected = new AtomicLong();
    private volatile @Nullable Throwable end;

    private Requests(RdmaChannel channel, @Nullable Consumer<Question> answerer) {
        this.channel = channel;
        this.answerer = answerer;
    }

    /// Requests over a channel that has no handler for messages, to a peer that does not ask. At most one for each
    /// channel.
    public static Requests on(RdmaChannel channel) {
        return begin(channel, null);
    }

    /// Requests over a channel in both directions; the peer does the same. At most one for each channel.
    ///
    /// @param answerer called with each question of the peer, on the thread that runs the handlers of the channel,
    ///         which it must not block. It or another thread answers. If it throws, the question is closed, and the
    ///         exception is treated like that of a [MessageHandler]
    public static Requests on(RdmaChannel channel, Consumer<Question> answerer) {
        return begin(channel, answerer);
    }

    private static Requests begin(RdmaChannel channel, @Nullable Consumer<Question> answerer) {
        channel.onMessage(null);
        Requests requests = new Requests(channel, answerer);
        // On the polling thread, also for messages that have arrived before.
        channel.adapter().group().submit(requests::receive);
        return requests;
    }

    /// Sends a request and waits for the answer, which the caller closes. Blocks.
    ///
    /// @param request at most [RdmaChannel#maxMessageBytes()]
    /// @param timeout how long to wait for the answer, 1 ms to 24 h
    /// @throws IllegalStateException if a handler calls this, because it would wait for itself
    /// @throws RdmaInterruptedException if the thread was interrupted
    public Message call(BufferSlice request, Duration timeout) {
        return call(timeout, number -> channel.async(timeout).send(request, number));
    }

    /// Sends a copy of a request; see [#call(BufferSlice, Duration)] and [BlockingChannel#send(MemorySegment)].
    public Message call(MemorySegment request, Duration timeout) {
        return call(timeout, number -> channel.async(timeout).send(request, number));
    }

    /// Sends a copy of a request; see [#call(BufferSlice, Duration)] and [BlockingChannel#send(MemorySegment)].
    public Message call(byte[] request, Duration timeout) {
        return call(MemorySegment.ofArray(request), timeout);
    }

    /// Sends a request. Never blocks. The future completes with the answer, which its user closes, on a thread
    /// that must not be blocked. To give up, complete or cancel the future: a later answer is then closed.
    ///
    /// @param request at most [RdmaChannel#maxMessageBytes()]
    /// @param timeout how long to wait for the answer, 1 ms to 24 h
    public CompletableFuture<Message> async(BufferSlice request, Duration timeout) {
        return async(timeout, number -> channel.async(timeout).send(request, number));
    }

    /// Sends a copy of a request; see [#async(BufferSlice, Duration)] and [AsyncChannel#send(MemorySegment)].
    public CompletableFuture<Message> async(MemorySegment request, Duration timeout) {
        return async(timeout, number -> channel.async(timeout).send(request, number));
    }

    /// Sends a copy of a request; see [#async(BufferSlice, Duration)] and [AsyncChannel#send(MemorySegment)].
    public CompletableFuture<Message> async(byte[] request, Duration timeout) {
        return async(MemorySegment.ofArray(request), timeout);
    }

    /// The number of requests that wait for their answer.
    public int inFlight() {
        return waiting.size();
    }

    /// The number of messages that answered no waiting request.
    public long unexpected() {
        return unexpected.get();
    }

    private Message call(Duration timeout, Function<Integer, CompletableFuture<@Nullable Void>> send) {
        long deadline = System.nanoTime() + Bounds.timeout("timeout", timeout).toNanos();
        FutureWait wait = FutureWait.on(channel.adapter().group());
        Request request = start(send);
        try {
            if (!wait.await(request, deadline)) {
                var _ = request.completeExceptionally(late(timeout));
            }
        } catch (InterruptedException e) {
            if (request.cancel(false)) {
                throw new RdmaInterruptedException("interrupted while waiting for an answer on " + channel, e);
            }
            Thread.currentThread().interrupt();
        }
        return FutureWait.result(request);
    }

    private CompletableFuture<Message> async(
            Duration timeout, Function<Integer, CompletableFuture<@Nullable Void>> send) {
        long nanos = Bounds.timeout("timeout", timeout).toNanos();
        Request request = start(send);
        CompletableFuture<@Nullable Void> alarm =
                new CompletableFuture<@Nullable Void>().completeOnTimeout(null, nanos, TimeUnit.NANOSECONDS);
        var _ = alarm.thenRun(() -> request.completeExceptionally(late(timeout)));
        var _ = request.whenComplete((answer, failure) -> alarm.cancel(false));
        return request;
    }

    private DeadlineException late(Duration timeout) {
        return new DeadlineException("no answer arrived on " + channel + " within " + timeout.toMillis() + " ms", null);
    }

    private int nextNumber() {
        int number = numbers.incrementAndGet();
        return answerer == null ? number : number & NUMBERS;
    }

    /// Each request takes the next number that no waiting request has.
    private Request start(Function<Integer, CompletableFuture<@Nullable Void>> send) {
        // Before it is sent, because the answer may arrive at once.
        int number = nextNumber();
        while (waiting.containsKey(number)) {
            number = nextNumber();
        }
        int tag = number;
        Request request = new Request(() -> waiting.remove(tag));
        waiting.put(tag, request);
        boolean started = false;
        try {
            var _ = send.apply(tag).whenComplete((nothing, failure) -> request.sent(failure));
            started = true;
        } finally {
            if (!started) {
                waiting.remove(tag);
            }
        }
        Throwable ended = end;
        if (ended != null) {
            request.completeExceptionally(ended);
        }
        return request;
    }

    /// Receives all messages that have arrived, and continues when the next one arrives.
    private void receive() {
        CompletableFuture<Message> next = channel.async().receive();
        while (next.isDone() && !next.isCompletedExceptionally()) {
            arrived(next.join());
            next = channel.async().receive();
        }
        var _ = next.whenComplete((message, failure) -> {
            if (failure != null) {
                end(failure);
            } else {
                arrived(message);
                receive();
            }
        });
    }

    /// An exception here, for example because there is no memory, fails the endpoint: otherwise, nobody would receive
    /// any more.
    private void arrived(Message message) {
        try {
            dispatch(message);
        } catch (RuntimeException | Error e) {
            channel.adapter().condemn(e);
        }
    }

    private void dispatch(Message message) {
        Consumer<Question> asked = answerer;
        if (asked == null) {
            answer(message, message.hasTag() ? waiting.remove(message.tag()) : null);
        } else if (message.hasTag() && (message.tag() & ANSWER) == 0) {
            ask(asked, new Question(channel, message, message.tag() | ANSWER));
        } else {
            answer(message, message.hasTag() ? waiting.remove(message.tag() & NUMBERS) : null);
        }
    }

    private void ask(Consumer<Question> asked, Question question) {
        try {
            asked.accept(question);
        } catch (RuntimeException | Error e) {
            question.close();
            channel.handlerThrew(e);
        }
    }

    private void answer(Message message, @Nullable Request request) {
        if (request == null || !request.answered(message)) {
            unexpected.incrementAndGet();
            message.close();
        }
    }

    private void end(Throwable why) {
        end = why;
        waiting.values().forEach(request -> request.completeExceptionally(why));
    }

    /// Complete when the answer has arrived and the SEND has ended, so that its memory is free; or when it has
    /// failed.
    private static final class Request extends CompletableFuture<Message> {
        private final AtomicReference<@Nullable Message> answer = new AtomicReference<>();
        private final Runnable atEnd;
        private volatile boolean sent;

        Request(Runnable atEnd) {
            this.atEnd = atEnd;
            var _ = whenComplete((value, failure) -> {
                // Also if it was cancelled.
                atEnd.run();
                Message unused = failure == null ? null : answer.getAndSet(null);
                if (unused != null) {
                    unused.close();
                }
            });
        }

        /// First ends what is counted: a thread that waits for this may continue before it has run what depends on
        /// this.
        @Override
        public boolean complete(Message value) {
            atEnd.run();
            return super.complete(value);
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            atEnd.run();
            return super.completeExceptionally(failure);
        }

        /// The SEND has ended. An answer proves that it has arrived, whatever its status is.
        void sent(@Nullable Throwable failure) {
            sent = true;
            Message arrived = answer.get();
            if (arrived != null) {
                complete(arrived);
            } else if (failure != null) {
                completeExceptionally(failure);
            }
        }

        /// @return false if this has failed, and the caller closes the message
        boolean answered(Message message) {
            answer.set(message);
            if (sent) {
                complete(message);
            }
            return !isCompletedExceptionally() || !answer.compareAndSet(message, null);
        }
    }
}
