package io.rdmacomm.comm;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A request of the peer to a program that answers through [Requests]. Answer it once, in its handler or later, on
/// any thread, and close it then: until it is closed it occupies a receive, as its [Message] does. Thread-safe. Do not
/// wait for the end of the answer before you close it: if both sides do that with all their receives, neither can send.
///
/// The peer does not notice that a question was closed without an answer. Its request then ends at its deadline.
public final class Question implements AutoCloseable {
    private final RdmaChannel channel;
    private final Message message;
    private final int tag;
    private final AtomicBoolean answered = new AtomicBoolean();

    /// @param tag of the answer
    Question(RdmaChannel channel, Message message, int tag) {
        this.channel = channel;
        this.message = message;
        this.tag = tag;
    }

    /// The content, until this is closed.
    public Message message() {
        return message;
    }

    /// Answers with the content of a slice; see [AsyncChannel#send(BufferSlice, int)].
    ///
    /// @throws IllegalStateException if it was answered or closed before
    public CompletableFuture<@Nullable Void> answer(BufferSlice content) {
        return answer((how, answerTag) -> how.send(content, answerTag));
    }

    /// Answers with a copy of `content`; see [AsyncChannel#send(MemorySegment, int)].
    ///
    /// @throws IllegalStateException if it was answered or closed before
    public CompletableFuture<@Nullable Void> answer(MemorySegment content) {
        return answer((how, answerTag) -> how.send(content, answerTag));
    }

    /// Answers with a copy of `content`; see [AsyncChannel#send(MemorySegment, int)].
    ///
    /// @throws IllegalStateException if it was answered or closed before
    public CompletableFuture<@Nullable Void> answer(byte[] content) {
        return answer(MemorySegment.ofArray(content));
    }

    /// Answers by writing into the peer's memory; the answer is the notice of that. See [AsyncChannel#writeNotify].
    ///
    /// @throws IllegalStateException if it was answered or closed before
    public CompletableFuture<@Nullable Void> answerByWrite(BufferSlice from, RemoteBuffer to, long offset) {
        return answer((how, answerTag) -> how.writeNotify(from, to, offset, answerTag));
    }

    private interface Sending {
        CompletableFuture<@Nullable Void> start(AsyncChannel how, int answerTag);
    }

    private CompletableFuture<@Nullable Void> answer(Sending sending) {
        if (!message.isHeld() || !answered.compareAndSet(false, true)) {
            throw new IllegalStateException(this + " was answered or closed before; answer each question once");
        }
        boolean started = false;
        try {
            CompletableFuture<@Nullable Void> sent = sending.start(channel.async(), tag);
            started = true;
            return sent;
        } finally {
            if (!started) {
                // After a bad argument, another answer is possible.
                answered.set(false);
            }
        }
    }

    /// Gives its memory back, so that it can receive another message. A question that was not answered cannot be
    /// answered any more. Idempotent.
    @Override
    public void close() {
        if (message.isHeld()) {
            message.close();
        }
    }

    @Override
    public String toString() {
        return "question " + (tag & Requests.NUMBERS) + " on " + channel;
    }
}
