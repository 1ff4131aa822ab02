package io.rdmacomm.examples;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.verbs.DeadlineException;
import java.time.Duration;

/// Reads and writes the table of a [KeyValueServer] with one-sided operations, which need no thread of the server.
/// For one thread.
///
/// If a method fails with a [io.rdmacomm.verbs.RdmaException], close the session: the server then unlocks what this
/// client has locked.
final class KeyValueClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final BlockingChannel channel;
    private final RemoteBuffer table;
    private final BufferSlice content;
    private final KeyValueEntry entry;
    private final int number;
    private long tornReads;

    KeyValueClient(ClientSession session) {
        EndPoint server = session.endPoint();
        channel = server.channel(0).blocking(TIMEOUT);
        table = server.peerBuffer(KeyValueServer.TABLE, TIMEOUT);
        RdmaBuffer copy = session.allocate("copy", KeyValueEntry.BYTES);
        content = copy.slice(KeyValueEntry.CONTENT, KeyValueEntry.BYTES - KeyValueEntry.CONTENT);
        entry = new KeyValueEntry(copy.segment());
        try (Message welcome = channel.receive()) {
            number = welcome.tag();
        }
    }

    /// The number of reads that overlapped with another client's write to the same entry.
    long tornReads() {
        return tornReads;
    }

    /// The value of a key; empty if it has none yet.
    String get(int key) {
        read(key);
        return entry.value();
    }

    /// How often the value of a key was put.
    long version(int key) {
        read(key);
        return entry.version();
    }

    void put(int key, String value) {
        byte[] bytes = KeyValueEntry.encode(value);
        lock(key);
        read(key);
        entry.write(entry.version() + 1, bytes);
        channel.write(content, table, KeyValueServer.offset(key) + KeyValueEntry.CONTENT);
        // Operations of one channel reach the memory in the order of the calls, so the value arrives first.
        unlock(key);
    }

    private void read(int key) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        channel.read(content, table, KeyValueServer.offset(key) + KeyValueEntry.CONTENT);
        while (!entry.isIntact()) {
            tornReads++;
            checkTime(deadline, "key " + key + " changes all the time");
            channel.read(content, table, KeyValueServer.offset(key) + KeyValueEntry.CONTENT);
        }
    }

    /// Waits for other clients that write to the same entry.
    void lock(int key) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (channel.compareAndSwap(table, KeyValueServer.offset(key) + KeyValueEntry.LOCK, 0, number) != 0) {
            checkTime(deadline, "key " + key + " stays locked");
            Thread.onSpinWait();
        }
    }

    private void unlock(int key) {
        long owner = channel.compareAndSwap(table, KeyValueServer.offset(key) + KeyValueEntry.LOCK, number, 0);
        if (owner != number) {
            throw new IllegalStateException("key " + key + " was locked by " + owner + " instead of " + number);
        }
    }

    private static void checkTime(long deadline, String problem) {
        if (System.nanoTime() - deadline > 0) {
            throw new DeadlineException(problem, null);
        }
    }
}
