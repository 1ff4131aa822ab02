package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ReceiveBlocks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/// A message that arrived, in the memory it was received into; or the notice of a WRITE that arrived.
///
/// It is a reusable view. Its content is valid until it is given back: when the handler returns, or, if it was
/// retained or received by a call, with [#close()]. Until then the peer has one receive less. The messages of a
/// channel, or of a session with [SharedReceives], are created once; receiving allocates nothing.
public final class Message implements AutoCloseable {
    // POSTED -> HANDLED (its handler runs) or HELD (stored, received or retained) -> POSTED.
    private static final int POSTED = 0;
    private static final int HANDLED = 1;
    private static final int HELD = 2;

    private final ReceiveBlocks receives;
    private final int index;
    private final MemorySegment block;
    private final AtomicInteger state = new AtomicInteger(POSTED);
    private long length;
    private int tag;
    private boolean tagged;
    private boolean notice;

    private Message(ReceiveBlocks receives, int index) {
        this.receives = receives;
        this.index = index;
        this.block = receives.block(index);
    }

    /// A message for each receive.
    static Message[] in(ReceiveBlocks receives) {
        Message[] messages = new Message[receives.count()];
        Arrays.setAll(messages, receive -> new Message(receives, receive));
        return messages;
    }

    /// Whether this is the notice of a WRITE: it has a tag, a length, and no content here.
    public boolean isNotice() {
        return notice;
    }

    /// Whether the peer gave a tag. Notices always have one.
    public boolean hasTag() {
        return tagged;
    }

    /// The peer's 32-bit tag; 0 if it gave none.
    public int tag() {
        return tag;
    }

    /// The length of the message, or the number of bytes that were written.
    public long length() {
        return length;
    }

    /// The memory it is in: the message is its first [#length()] bytes. Allocates nothing.
    public MemorySegment block() {
        return block;
    }

    /// Its content; empty for a notice. Allocates a view.
    public MemorySegment segment() {
        return block.asSlice(0, notice ? 0 : length);
    }

    /// Its content as UTF-8 text. Allocates.
    public String text() {
        return new String(segment().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /// Keeps it valid beyond the end of the handler, until [#close()]. To be called in the handler.
    ///
    /// @return this
    public Message retain() {
        state.compareAndSet(HANDLED, HELD);
        return this;
    }

    /// Gives it back, so that its memory can receive another message. Thread-safe; closing it again does
    /// nothing as long as no other message is in it.
    @Override
    public void close() {
        if (state.getAndSet(POSTED) != POSTED) {
            receives.repost(index);
        }
    }

    /// Something has arrived in it.
    void arrived(long newLength, boolean isNotice, boolean hasTag, int newTag) {
        length = newLength;
        notice = isNotice;
        tagged = hasTag;
        tag = newTag;
    }

    /// It is given to a handler by the thread that runs it; other threads get it from there.
    void handled() {
        state.setRelease(HANDLED);
    }

    /// It is stored, or was given to a receiver.
    void held() {
        state.set(HELD);
    }

    /// The handler has returned.
    void endOfHandler() {
        if (state.compareAndSet(HANDLED, POSTED)) {
            receives.repost(index);
        }
    }

    @Override
    public String toString() {
        return (notice ? "notice of " : "message of ") + length + " bytes" + (tagged ? " with tag " + tag : "");
    }
}
