package io.rdmacomm.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Lease;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.Reconnect;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Requests;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/// Reads and writes the values of a [BlockServer]. It remembers where values are, and while their leases last it
/// reads them without a question. So a value may be as old as a lease. Thread-safe.
///
/// If the server has failed, methods throw a [io.rdmacomm.verbs.RdmaException]. The next call waits for a new
/// connection.
public final class BlockClient implements AutoCloseable {
    private static final int ATTEMPTS = 10;

    private final ClientSession session;
    private final Duration timeout;
    private final int mostPlaces;
    private @Nullable Connection connection;

    /// Where a value is, and for how long.
    private record Place(RemoteBuffer memory, Lease lease) {}

    /// The places are those of one server: the next one has other values there.
    private record Connection(EndPoint server, Requests requests, ConcurrentMap<String, Place> places) {}

    /// Connects, and will do so again when the server has failed.
    ///
    /// @param timeout of each message and each READ
    /// @param places the number of values whose places it remembers; 0 to ask for each
    public BlockClient(SessionOptions options, Duration timeout, int places) {
        session = ClientSession.connect(
                options.withChannel(BlockServer.messages()).withReconnect(Reconnect.defaults()));
        this.timeout = timeout;
        this.mostPlaces = places;
    }

    /// Memory for values, until this is closed.
    public RdmaBuffer allocate(long bytes) {
        return session.allocate("values", bytes);
    }

    /// Reads a value. After a [DeadlineException], `into` may still change.
    ///
    /// @param into part of [#allocate(long)], long enough for the value
    /// @return its length in bytes; 0 if the server has no value
    /// @throws io.rdmacomm.comm.LeaseExpiredException if READs take longer than leases
    public int get(String key, BufferSlice into) {
        Connection now = connection();
        for (int attempt = 1; ; attempt++) {
            Place place = find(now, key);
            if (place == null) {
                return 0;
            }
            RemoteBuffer memory = place.memory();
            now.server().channel(0).blocking(timeout).read(into.slice(0, memory.length()), memory, 0);
            if (attempt == ATTEMPTS) {
                place.lease().check();
            }
            if (!place.lease().isOver()) {
                return (int) memory.length();
            }
        }
    }

    /// @return null if the server has no value
    private @Nullable Place find(Connection now, String key) {
        Place known = now.places().get(key);
        if (known != null && !known.lease().isOver()) {
            return known;
        }
        // Before the question: the server counts from a time after it.
        Lease lease = Lease.begin(BlockIndex.TERM);
        byte[] question = question(BlockServer.GET, key, ByteBuffer.allocate(0));
        try (Message answer = now.requests().call(question, timeout)) {
            if (answer.length() == 0) {
                return null;
            }
            ByteBuffer told = answer.segment().asByteBuffer();
            long address = told.getLong();
            int memoryKey = told.getInt();
            Set<AccessFlag> access = Set.of(AccessFlag.REMOTE_READ);
            RemoteBuffer memory = RemoteBuffer.of(key, address, told.getInt(), memoryKey, access);
            Place place = new Place(memory, lease);
            remember(now.places(), key, place);
            return place;
        }
    }

    private void remember(ConcurrentMap<String, Place> places, String key, Place place) {
        if (places.size() >= mostPlaces) {
            places.values().removeIf(old -> old.lease().isOver());
        }
        if (places.size() < mostPlaces || places.containsKey(key)) {
            places.put(key, place);
        }
    }

    /// Stores a value. If this fails, the server may have it or not.
    ///
    /// @param key up to 127 bytes of UTF-8
    /// @param value of 1 to [BlockServer#LONGEST] bytes
    /// @throws DeadlineException if there is no answer in time, or the server had no room in time
    public void put(String key, MemorySegment value) {
        Connection now = connection();
        byte[] question = question(BlockServer.PUT, key, value.asByteBuffer());
        try (Message answer = now.requests().call(question, timeout)) {
            if (answer.segment().asByteBuffer().get() == BlockServer.NO_ROOM) {
                throw new DeadlineException("the server had no room for '" + key + "'; try again later", null);
            }
        } finally {
            now.places().remove(key);
        }
    }

    private static byte[] question(byte what, String key, ByteBuffer value) {
        byte[] name = key.getBytes(UTF_8);
        if (name.length > BlockServer.LONGEST_KEY) {
            throw new IllegalArgumentException("key of " + name.length + " bytes; at most " + BlockServer.LONGEST_KEY);
        }
        ByteBuffer question = ByteBuffer.allocate(2 + name.length + value.remaining());
        return question.put(what).put((byte) name.length).put(name).put(value).array();
    }

    private Connection connection() {
        EndPoint server = session.awaitEndPoint(timeout);
        synchronized (this) {
            Connection known = connection;
            if (known == null || !known.server().equals(server)) {
                known = new Connection(server, Requests.on(server.channel(0)), new ConcurrentHashMap<>());
                connection = known;
            }
            return known;
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
