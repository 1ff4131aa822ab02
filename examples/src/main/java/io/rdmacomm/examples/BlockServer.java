package io.rdmacomm.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.statistics.PoolStatistics;
import io.rdmacomm.verbs.DeadlineException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/// Keeps values of up to 64 KiB, each with a key. It tells its clients where a value is, and they READ it: that takes
/// no thread of the server. Thread-safe.
///
/// A question is GET or PUT in one byte, the length of the key in the next one, the key, and after PUT the value.
public final class BlockServer implements SessionListener, AutoCloseable {
    /// The most bytes of a value.
    public static final int LONGEST = 64 << 10;

    static final byte GET = 0;
    static final byte PUT = 1;
    static final byte STORED = 2;
    static final byte NO_ROOM = 3;
    static final int LONGEST_KEY = Byte.MAX_VALUE;

    private static final int CLIENTS = 64;
    private static final long BYTES_OF_CLIENT = 512 << 10;
    private static final int RECEIVES = 256;

    private final CompletableFuture<BlockIndex> index = new CompletableFuture<>();
    private final ServerSession session;

    /// Listens.
    ///
    /// @param limit of the memory for values, in bytes; at least 1 MiB
    public BlockServer(SessionOptions options, long limit) {
        long receives = (long) RECEIVES * messages().messageBytes();
        session = ServerSession.listen(options.withListener(this)
                .withChannel(messages())
                .withSharedReceives(SharedReceives.of(RECEIVES, CLIENTS))
                .withMemoryLimit(limit + receives + CLIENTS * BYTES_OF_CLIENT));
        index.complete(new BlockIndex(session, limit));
    }

    /// Of both sides: the longest message is a PUT.
    static ChannelOptions messages() {
        return ChannelOptions.defaults().withReceives(16).withMessageBytes(2 + LONGEST_KEY + LONGEST);
    }

    /// The port at which it listens.
    public int port() {
        return session.port();
    }

    /// The memory of its values, including those that were taken back and may still be read.
    public PoolStatistics statistics() {
        return index.join().statistics();
    }

    /// Waits for the index: a client may arrive before the constructor has made it.
    @Override
    public void onEndPoint(EndPoint client) {
        BlockIndex values = index.join();
        client.channel(0).onMessage((channel, question) -> onQuestion(values, channel, question));
    }

    /// Runs on a thread that serves many clients, so a PUT, which may have to wait, goes on in a thread of its own.
    /// Until it ends it occupies a receive: a client that puts faster than memory becomes free has to wait.
    private static void onQuestion(BlockIndex values, RdmaChannel channel, Message question) {
        ByteBuffer content = question.segment().asByteBuffer();
        byte what = content.get();
        byte[] name = new byte[content.get()];
        content.get(name);
        String key = new String(name, UTF_8);
        if (what == GET) {
            var _ = channel.async().send(values.answer(key), question.tag());
        } else {
            Message kept = question.retain();
            Thread.startVirtualThread(() -> put(values, key, MemorySegment.ofBuffer(content), channel, kept));
        }
    }

    private static void put(BlockIndex values, String key, MemorySegment value, RdmaChannel channel, Message question) {
        try (question) {
            byte outcome = STORED;
            try {
                values.put(key, value);
            } catch (DeadlineException _) {
                outcome = NO_ROOM;
            }
            var _ = channel.async().send(new byte[] {outcome}, question.tag());
        } catch (ClosedException _) {
            // The client is gone, or this server is closed.
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
