package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Posts what the protocol sends. A message is the immediate data of a WRITE; on iWARP, which has none, it is a
/// SEND of 4 bytes in the order of the host behind a plain WRITE (`RS_OPT_MSG_SEND` in rsocket.c).
///
/// Of a control message the last request is signaled, and its work id is the message itself. Of messages with bytes
/// only some are signaled ([#sent]): each completion costs as much as a short message. Bytes that are placed in mapped
/// memory and signs of life are no messages.
final class Wire {
    /// Marks the work id of a receive. The rest is the number of its buffer.
    static final long RECEIVE = 1L << 32;
    /// Marks the work id of bytes that are placed in memory that the peer has mapped. The rest is their number.
    static final long PLACED = 1L << 33;
    /// The work id of a sign of life.
    static final long ALIVE = 1L << 34;
    /// Marks the work id of a message with bytes. The rest tells what its completion frees.
    static final long SENT = 1L << 35;

    private static final int REQUESTS_SHIFT = 36;

    private final QueuePair queuePair;
    private final ConnectionMemory memory;
    private final int receives;
    private final MemorySegment word;
    private final SendBatch batch;
    private final ReceiveBatch receiveBatch;
    private final ChannelCounters counters;
    private boolean immediate;
    private int nextReceive;

    /// @param receives how many receives are posted at most
    /// @param immediate whether messages are sent as immediate data
    Wire(
            QueuePair queuePair,
            ConnectionMemory memory,
            Arena arena,
            int receives,
            boolean immediate,
            ChannelCounters counters) {
        this.counters = counters;
        this.queuePair = queuePair;
        this.memory = memory;
        this.receives = receives;
        this.immediate = immediate;
        this.word = arena.allocate(ValueLayout.JAVA_INT);
        this.batch = SendBatch.create(arena, 2, 2, Integer.BYTES);
        this.receiveBatch = ReceiveBatch.create(arena, receives, 1);
    }

    /// Sends messages as immediate data from now on: the peer has said that it takes them.
    void sendImmediate() {
        immediate = true;
    }

    /// How many requests a message with bytes takes.
    int requests() {
        return immediate ? 1 : 2;
    }

    /// The work id of a message whose completion frees so many bytes and requests: its own, and those of messages
    /// before
    /// it that were not signaled.
    static long sent(int bytes, int requests) {
        return SENT | (long) requests << REQUESTS_SHIFT | bytes;
    }

    /// The number of bytes in an id of [#sent].
    static int bytes(long id) {
        return (int) id;
    }

    /// The number of requests in an id of [#sent].
    static int requests(long id) {
        return (int) (id >>> REQUESTS_SHIFT);
    }

    /// Sends bytes of the send ring, in two pieces if they lie at its end.
    ///
    /// @param id of [#sent]; 0 not to signal it
    /// @return whether the device took them
    boolean data(int message, long id, int at, int first, int second, long address, int key) {
        begin(message, id == 0 ? SENT : id, address, key);
        pieces(at, first, second);
        tell(message, id == 0 ? SENT : id);
        if (id != 0) {
            batch.signaled();
        }
        return post();
    }

    private void pieces(int at, int first, int second) {
        batch.with(memory.region(), memory.sendAt() + at, first);
        if (second > 0) {
            batch.with(memory.region(), memory.sendAt(), second);
        }
    }

    /// Places bytes of the send ring in memory that the peer has mapped: a WRITE that the peer does not notice.
    ///
    /// @return whether the device took them
    boolean place(int at, int first, int second, long address, int key) {
        batch.clear();
        batch.write(PLACED | (first + second), address, key);
        pieces(at, first, second);
        batch.signaled();
        return post();
    }

    /// Asks the peer's device for a sign of life: a WRITE of nothing to nowhere.
    void ask() {
        batch.clear();
        batch.write(ALIVE, 0, 0).signaled();
        var _ = post();
    }

    /// Sends a grant.
    void grant(int message, int at, long address, int key) {
        begin(message, id(message), address, key);
        batch.with(memory.region(), at, ConnectionMemory.TARGET_BYTES);
        var _ = end(message);
    }

    /// Sends a message alone.
    void message(int message) {
        batch.clear();
        if (immediate) {
            batch.writeWithImmediate(id(message), 0, 0, message);
        }
        var _ = end(message);
    }

    private void begin(int message, long id, long address, int key) {
        batch.clear();
        if (immediate) {
            batch.writeWithImmediate(id, address, key, message);
        } else {
            batch.write(id, address, key);
        }
    }

    private void tell(int message, long id) {
        if (!immediate) {
            word.set(ValueLayout.JAVA_INT, 0, message);
            batch.send(id).inline(word, 0, Integer.BYTES);
        }
    }

    private boolean end(int message) {
        tell(message, id(message));
        batch.signaled();
        return post();
    }

    private static long id(int message) {
        return Integer.toUnsignedLong(message);
    }

    private boolean post() {
        counters.count(ChannelCounter.OPERATIONS);
        try {
            return queuePair.post(batch) == batch.size();
        } catch (VerbException | IllegalStateException e) {
            // The connection has ended; a completion or the connection manager says so.
            return false;
        }
    }

    /// Posts receives. Immediate data needs no memory.
    void receive(int count) {
        receiveBatch.clear();
        for (int i = 0; i < count; i++) {
            receiveBatch.receive(RECEIVE | nextReceive);
            if (!immediate) {
                receiveBatch.with(memory.region(), memory.messageAt(nextReceive), Integer.BYTES);
            }
            nextReceive = nextReceive + 1 == receives ? 0 : nextReceive + 1;
        }
        try {
            var _ = queuePair.post(receiveBatch);
        } catch (VerbException | IllegalStateException e) {
            // The connection has ended; a completion or the connection manager says so.
        }
    }

    /// The message of a receive that has succeeded; 0, which is none, if what arrived has another length.
    int message(Completions completions, int index) {
        if (completions.hasImmediate(index)) {
            return completions.immediate(index);
        }
        if (completions.byteLength(index) != Integer.BYTES) {
            return 0;
        }
        int buffer = (int) (completions.workId(index) & ~RECEIVE);
        return memory.bytes().getInt(memory.messageAt(buffer));
    }
}
