package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.linux.Futex;
import io.rdmacomm.soft.mapped.Bell;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.MappedFile;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Another context of this host: its control file, its regions, and the connection that carries wake-ups and ends
/// when the peer dies. A context can be its own peer.
///
/// When the connection ends, the process may still exist: a process that was stopped may resume and finish its
/// operations. Only the lock of its folder shows that it has ended ([#isGone()]).
public final class ShmPeer implements AutoCloseable {
    /// Name of the socket in a context's folder.
    public static final String SOCKET = "socket";

    /// @param memory null if this process cannot map it
    private record Region(long file, @Nullable MappedFile memory) {
        @Nullable
        MemorySegment segment() {
            return memory == null ? null : memory.segment();
        }
    }

    private final int lid;
    private final Gid gid;
    private final Path folder;
    private final MappedFile control;
    private final SocketChannel socket;
    private final Outbox outbox;
    private final BitSet mapped = new BitSet();
    private volatile boolean connected = true;
    private volatile boolean gone;
    private long regionsGone;
    private volatile @Nullable Region[] regions = new @Nullable Region[16];

    private ShmPeer(int lid, Gid gid, Path folder, MappedFile control, SocketChannel socket) {
        this.lid = lid;
        this.gid = gid;
        this.folder = folder;
        this.control = control;
        this.socket = socket;
        this.outbox = new Outbox(socket);
    }

    /// Connects to the context with this LID and sends HELLO. Does not block.
    ///
    /// @return null if there is no such context, it has another GID, or it does not share its memory
    public static @Nullable ShmPeer connect(int lid, Gid gid, int ownLid, Gid ownGid) {
        MappedFile control = null;
        SocketChannel socket = null;
        boolean connected = false;
        try {
            Path folder = ShmDirectory.folder(lid);
            control = MappedFile.open(folder.resolve(ControlFile.NAME));
            MemorySegment memory = control.segment();
            if (memory.byteSize() == ControlLayout.FILE_BYTES
                    && SharedWords.acquire(memory, ControlLayout.HEADER_MAGIC) == ControlLayout.MAGIC
                    && SharedWords.acquireInt(memory, ControlLayout.HEADER_VERSION) == ControlLayout.VERSION
                    && (lid == ownLid || SharedWords.acquireInt(memory, ControlLayout.HEADER_SHARED) == 1)
                    && SharedWords.acquire(memory, ControlLayout.HEADER_GID_HIGH) == gid.high()
                    && SharedWords.acquire(memory, ControlLayout.HEADER_GID_LOW) == gid.low()) {
                socket = SystemSockets.openSocket(StandardProtocolFamily.UNIX);
                socket.configureBlocking(false);
                if (socket.connect(UnixDomainSocketAddress.of(folder.resolve(SOCKET)))) {
                    ShmPeer peer = new ShmPeer(lid, gid, folder, control, socket);
                    peer.send(ShmMessage.HELLO, ownLid, ownGid.high(), ownGid.low());
                    connected = !peer.outbox.isWaiting();
                    return connected ? peer : null;
                }
            }
            return null;
        } catch (IOException | InternalError e) {
            // The context is starting, is ending, was left behind by a dead process, or its file is truncated.
            return null;
        } finally {
            if (!connected) {
                closeQuietly(socket, control);
            }
        }
    }

    private static void closeQuietly(@Nullable SocketChannel socket, @Nullable MappedFile control) {
        try {
            if (socket != null) {
                socket.close();
            }
            if (control != null) {
                control.close();
            }
        } catch (IOException e) {
            SafeLogger.of(ShmPeer.class).log(System.Logger.Level.DEBUG, "closing a half-made connection", e);
        }
    }

    /// The peer's LID.
    public int lid() {
        return lid;
    }

    /// Whether this is its GID.
    public boolean hasGid(Gid other) {
        return gid.equals(other);
    }

    /// Whether its control file has this identity.
    boolean isNamed(UUID identity) {
        return SharedWords.acquire(memory(), ControlLayout.HEADER_IDENTITY_HIGH) == identity.getMostSignificantBits()
                && SharedWords.acquire(memory(), ControlLayout.HEADER_IDENTITY_LOW)
                        == identity.getLeastSignificantBits();
    }

    /// The peer's control file.
    public MemorySegment memory() {
        return control.segment();
    }

    /// Whether the end of its connection has not been noticed yet.
    public boolean isConnected() {
        return connected;
    }

    /// Its connection has ended.
    void part() {
        connected = false;
    }

    /// Whether its process has ended, or has closed the context, so that it executes nothing more. Checks the
    /// lock of its folder if the connection has ended.
    public boolean isGone() {
        if (!gone && !connected) {
            gone = ShmDirectory.isGone(lid);
        }
        return gone;
    }

    /// The connection, to be watched for its end.
    SocketChannel socket() {
        return socket;
    }

    /// The messages that wait to be sent.
    Outbox outbox() {
        return outbox;
    }

    /// Sends a message, later if the peer does not read now; thread-safe. Does not block.
    ///
    /// @return false if the connection has ended
    public boolean send(int type, int number, long first, long second) {
        if (!connected) {
            return false;
        }
        outbox.send(type, number, first, second);
        return true;
    }

    /// Notifies the owner of a completion queue of the result of a push to it.
    ///
    /// @param queue where the queue is in the peer's control file
    /// @param result of [io.rdmacomm.soft.mapped.CompletionProducer#push]
    public void announce(long queue, long result) {
        if (result == CompletionRing.OVERRUN) {
            send(ShmMessage.OVERRUN, CompletionRing.number(memory(), queue), 0, 0);
        } else if (Bell.named(result) == 0) {
            send(ShmMessage.COMPLETION, CompletionRing.number(memory(), queue), 0, 0);
        } else {
            ring(result);
        }
    }

    private void ring(long armed) {
        long bell = Bell.named(armed);
        int sleepers = Bell.ring(memory(), armed);
        boolean woken = (sleepers & Bell.IN_KERNEL) == 0 || Futex.wake(memory(), bell);
        if (!woken || (sleepers & Bell.FOR_MESSAGE) != 0) {
            send(ShmMessage.BELL, 0, bell, 0);
        }
    }

    /// The file with the memory of some regions, mapped at the first use.
    ///
    /// @param index the index of the key that stands for it
    /// @param file its number
    /// @return null if it is gone, or is a file of the program that this process cannot map
    public @Nullable MemorySegment region(int index, long file) {
        @Nullable Region[] table = regions;
        if (index < table.length) {
            Region region = table[index];
            if (region != null && region.file == file) {
                return region.segment();
            }
        }
        return mapRegion(index, file);
    }

    private synchronized @Nullable MemorySegment mapRegion(int index, long file) {
        if (!connected) {
            return null;
        }
        Region known = index < regions.length ? regions[index] : null;
        if (known != null && known.file == file) {
            return known.segment();
        }
        Path path = folder.resolve(regionName(file));
        try {
            Region mapped = new Region(file, file > 0 ? MappedFile.open(path) : MappedFile.openOfProgram(path));
            replaceRegion(index, mapped);
            return mapped.segment();
        } catch (IOException e) {
            if (file < 0) {
                // Not tried again with each request.
                replaceRegion(index, new Region(file, null));
            }
            return null;
        }
    }

    /// Maps a part of the file of a region once more, so that it stays when the peer closes the region, or ends.
    ///
    /// @return null if the file is gone, or shorter than it was
    /// @throws IOException if the system cannot map it
    @Nullable
    MemorySegment view(long file, long offset, long bytes, boolean writable, Arena arena) throws IOException {
        return MappedFile.view(folder.resolve(regionName(file)), offset, bytes, writable, arena);
    }

    /// Drops the mappings of the files that their owner has removed. An index may have been reused.
    public synchronized void forgetRegions() {
        MemorySegment memory = memory();
        long closed = SharedWords.acquire(memory, ControlLayout.HEADER_REGIONS_GONE);
        if (closed == regionsGone) {
            return;
        }
        regionsGone = closed;
        for (int index = mapped.nextSetBit(0); index >= 0; index = mapped.nextSetBit(index + 1)) {
            Region known = regions[index];
            long entry = ControlLayout.KEYS + (long) index * ControlLayout.KEY_BYTES;
            if (known != null && SharedWords.acquire(memory, entry + ControlLayout.KEY_FILE) != known.file) {
                replaceRegion(index, null);
            }
        }
    }

    private void replaceRegion(int index, @Nullable Region region) {
        @Nullable Region[] table = Arrays.copyOf(regions, Math.max(regions.length, Integer.highestOneBit(index) * 2));
        Region old = table[index];
        table[index] = region;
        regions = table;
        mapped.set(index, region != null);
        if (old != null) {
            unmap(old);
        }
    }

    private static void unmap(Region region) {
        try {
            if (region.memory != null) {
                region.memory.close();
            }
        } catch (IOException e) {
            SafeLogger.of(ShmPeer.class).log(System.Logger.Level.DEBUG, "unmapping a region", e);
        }
    }

    /// The name of a region's file, or of the note about a file of the program.
    ///
    /// @param file its number, negative for the second
    public static String regionName(long file) {
        return file > 0 ? "region-" + file : "file-" + -file;
    }

    /// Unmaps everything and ends the connection. No other thread may use the peer now.
    @Override
    public synchronized void close() {
        connected = false;
        for (Region region : regions) {
            if (region != null) {
                unmap(region);
            }
        }
        regions = new @Nullable Region[0];
        closeQuietly(socket, control);
    }
}
