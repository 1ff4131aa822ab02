package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ReceiveBlocks;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A message that arrived, in the memory it was received into; or the notice of a WRITE that arrived.
///
/// Its content is valid until the message is given back. A message that was passed to a handler is given back when
/// the handler returns; a message that was retained or received by a call is given back by [#close()]. Until then,
/// the peer has one receive less. After that, all methods that read the message throw [IllegalStateException].
///
/// A message that was received by a call or retained is a separate object, so closing it twice never closes
/// another message. A handler that does not retain gets the same object for each message that arrives in the
/// same memory, and allocates nothing; such an object must not be kept.
public final class Message implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(Message.class);
    private static final long WARNING_NANOS = 1_000_000_000;
    private static final AtomicLong LAST_WARNING = new AtomicLong(System.nanoTime() - WARNING_NANOS);
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Message.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // POSTED -> HANDLED (its handler runs) -> POSTED, if it was not retained; the handler may close it: ENDED
    // -> POSTED. POSTED or HANDLED -> HELD (stored, received or retained) -> GIVEN_BACK, the final state.
    private static final int POSTED = 0;
    private static final int HANDLED = 1;
    private static final int ENDED = 2;
    private static final int HELD = 3;
    private static final int GIVEN_BACK = 4;

    private final ReceiveBlocks receives;
    private final int index;
    private final MemorySegment block;
    private volatile int state;
    // The thread that runs the handler, for as long as it does.
    private @Nullable Thread handling;
    private long length;
    private int tag;
    private boolean tagged;
    private boolean notice;

    private Message(ReceiveBlocks receives, int index, MemorySegment block) {
        this.receives = receives;
        this.index = index;
        this.block = block;
    }

    /// A message for each receive.
    static Message[] in(ReceiveBlocks receives) {
        Message[] messages = new Message[receives.count()];
        Arrays.setAll(messages, receive -> new Message(receives, receive, receives.block(receive)));
        return messages;
    }

    /// The object for the next message in this memory: this one, unless a program that held it may still use
    /// it. On the polling thread.
    Message next() {
        return state == GIVEN_BACK ? new Message(receives, index, block) : this;
    }

    /// Whether this is the notice of a WRITE: it has a tag, a length, and no content here.
    public boolean isNotice() {
        return valid().notice;
    }

    /// Whether the peer gave a tag. Notices always have one.
    public boolean hasTag() {
        return valid().tagged;
    }

    /// The peer's 32-bit tag; 0 if it gave none.
    public int tag() {
        return valid().tag;
    }

    /// The length of the message, or the number of bytes that were written.
    public long length() {
        return valid().length;
    }

    /// The memory it is in: the message is its first [#length()] bytes. Allocates nothing.
    public MemorySegment block() {
        return valid().block;
    }

    /// Its content; empty for a notice. Allocates a view.
    public MemorySegment segment() {
        return valid().block.asSlice(0, notice ? 0 : length);
    }

    /// Its content as UTF-8 text. Allocates.
    public String text() {
        return new String(segment().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /// Keeps it valid beyond the end of the handler, until [#close()]. Call it in the handler. Allocates
    /// nothing now, but the next message in the same memory needs a new object.
    ///
    /// @return this
    /// @throws IllegalStateException if it is too late: the handler has returned, or the message was closed
    public Message retain() {
        boolean handled = isHandledHere();
        if (!handled && state != HELD) {
            throw new IllegalStateException("a message was retained too late: " + endReason());
        }
        if (handled) {
            state = HELD;
        }
        return this;
    }

    /// Gives it back, so that its memory can receive another message. Thread-safe. In its handler, a message
    /// that was not retained is given back when the handler returns.
    ///
    /// Closing it again, or after its handler has returned, is a mistake but has no effect; the logger
    /// `io.rdmacomm.comm` logs a WARNING with the stack, at most once a second.
    @Override
    public void close() {
        if (STATE.compareAndSet(this, HELD, GIVEN_BACK)) {
            receives.repost(index);
        } else if (isHandledHere()) {
            state = ENDED;
        } else {
            warn();
        }
    }

    private void warn() {
        long last = LAST_WARNING.get();
        long now = System.nanoTime();
        if (now - last >= WARNING_NANOS && LAST_WARNING.compareAndSet(last, now)) {
            LOGGER.log(
                    Level.WARNING,
                    "a message was closed too late, which has no effect: " + endReason(),
                    new IllegalStateException("it was closed here"));
        }
    }

    /// Whether the calling thread runs its handler, which has neither retained nor closed it.
    private boolean isHandledHere() {
        return state == HANDLED && Thread.currentThread().equals(handling);
    }

    private Message valid() {
        int now = state;
        if (now != HANDLED && now != HELD) {
            throw new IllegalStateException("a message was used too late: " + endReason());
        }
        return this;
    }

    private String endReason() {
        return state == GIVEN_BACK || state == ENDED
                ? "it was closed before"
                : "its handler had returned; call retain() in the handler to keep it";
    }

    /// Whether the message was queued, received or retained, and not closed. On any thread.
    boolean isHeld() {
        return state == HELD;
    }

    /// A message or notice has arrived in this memory.
    void arrived(long newLength, boolean isNotice, boolean hasTag, int newTag) {
        length = newLength;
        notice = isNotice;
        tagged = hasTag;
        tag = newTag;
    }

    /// The calling thread passes the message to the handler, which may hand it to other threads.
    void handled() {
        handling = Thread.currentThread();
        STATE.setRelease(this, HANDLED);
    }

    /// The message is queued, or was given to a receiver.
    void held() {
        state = HELD;
    }

    /// The handler has returned.
    void endOfHandler() {
        int now = state;
        if (now == HANDLED || now == ENDED) {
            STATE.setRelease(this, POSTED);
            receives.repost(index);
        }
    }

    /// The program did not receive the message: posts its receive again.
    void discard() {
        state = GIVEN_BACK;
        receives.repost(index);
    }

    @Override
    public String toString() {
        String what = notice ? "notice of " : "message of ";
        boolean valid = state == HANDLED || state == HELD;
        return (valid ? "" : "closed ") + what + length + " bytes" + (tagged ? " with tag " + tag : "");
    }
}
