package io.rdmacomm.examples;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.RdmaException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Lends a table of [KeyValueEntry] to its clients, which do the rest. The server acts only when a client connects,
/// to give it a number for its locks, and when a client ends, to release its locks.
final class KeyValueServer implements SessionListener, AutoCloseable {
    static final String TABLE = "table";
    static final int ENTRIES = 1024;

    private final AtomicInteger numbers = new AtomicInteger();
    private final ServerSession session;
    private @Nullable RdmaBuffer table;

    KeyValueServer(SessionOptions options) {
        session = ServerSession.listen(options.withListener(this));
    }

    /// The table, created for the first client. That client may arrive before the constructor has stored the
    /// session, so the session is an argument.
    private synchronized RdmaBuffer table(Session of) {
        RdmaBuffer memory = table;
        if (memory == null) {
            memory = of.allocate(TABLE, KeyValueEntry.BYTES, ENTRIES);
            for (int key = 0; key < ENTRIES; key++) {
                new KeyValueEntry(memory.block(key).segment()).write(0, new byte[0]);
            }
            table = memory;
        }
        return memory;
    }

    /// The offset of a key's entry in the table.
    static long offset(int key) {
        return (long) Objects.checkIndex(key, ENTRIES) * KeyValueEntry.BYTES;
    }

    int port() {
        return session.port();
    }

    @Override
    public void onEndPoint(EndPoint client) {
        RdmaBuffer memory = table(client.session());
        int number = numbers.incrementAndGet();
        client.attach(number);
        client.announce(memory, AccessFlag.allRemote());
        BufferSlice nothing = memory.slice(0, 0);
        client.channel(0).blocking().send(nothing, number);
    }

    @Override
    public void onEnd(EndPoint client, @Nullable RdmaException failure) {
        // After this, nothing that the client has sent can change the table.
        client.close();
        if (client.attachment() instanceof Integer number) {
            unlockAllOf(table(client.session()), number);
        }
    }

    private synchronized void unlockAllOf(RdmaBuffer memory, int number) {
        // The last clients end when the server closes, which frees the table.
        for (int key = 0; memory.isOpen() && key < ENTRIES; key++) {
            KeyValueEntry entry = new KeyValueEntry(memory.block(key).segment());
            if (entry.owner() == number) {
                if (!entry.isIntact()) {
                    // The client ended while it was writing: the value is lost.
                    entry.write(entry.version(), new byte[0]);
                }
                entry.unlock();
            }
        }
    }

    @Override
    public synchronized void close() {
        session.close();
    }
}
