package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A file in shared memory, mapped into this process. Closing it unmaps it; the owner also deletes it. Or a file
/// of the program, of which peers find a note there.
public final class MappedFile implements AutoCloseable {
    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 20).asReadOnlyBuffer();

    /// The size up to which a file is mapped again as a whole, for all parts.
    private static final long MOST_WHOLE = 1 << 26;

    private static final RoomCheck ROOM = new RoomCheck();

    private final Path path;
    private final boolean owner;
    private final @Nullable Arena arena;
    private final MemorySegment segment;
    private volatile boolean mappedAgain;
    private @Nullable ByteBuffer whole;

    /// @param path of the file, or of the note about it
    /// @param owner whether closing it deletes what is at the path
    /// @param arena of the mapping; null if that is the program's
    MappedFile(Path path, boolean owner, @Nullable Arena arena, MemorySegment segment) {
        this.path = path;
        this.owner = owner;
        this.arena = arena;
        this.segment = segment;
    }

    /// Creates a zeroed file with all of its memory allocated.
    ///
    /// The zeros are written, not just mapped, so that a file system that is too small fails here, and not with
    /// a signal at some later access. A request for more than the file system, the machine or the control group
    /// has left is rejected before that, because the kernel ends programs when there is no memory left.
    ///
    /// @throws IOException if there is no room
    public static MappedFile create(ShmDirectory directory, String name, long bytes) throws IOException {
        return Uninterrupted.call(() -> createOnce(directory, name, bytes));
    }

    private static MappedFile createOnce(ShmDirectory directory, String name, long bytes) throws IOException {
        Path path = directory.file(name);
        try (FileChannel channel = directory.create(name)) {
            ROOM.admit(path, bytes);
            ByteBuffer zeros = ZEROS.duplicate();
            for (long at = 0; at < bytes; ) {
                zeros.position(0).limit((int) Math.min(zeros.capacity(), bytes - at));
                at += channel.write(zeros, at);
            }
            return map(path, channel, bytes, true);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(path);
            throw e;
        }
    }

    /// A file that the program has mapped, and a note about it for peers.
    ///
    /// @return null if the memory is not that of a file, or peers could not find it
    /// @throws IOException if there is no room for the note
    public static @Nullable MappedFile ofProgram(ShmDirectory directory, String name, MemorySegment memory)
            throws IOException {
        ProgramFile file = ProgramFile.behind(memory);
        if (file == null) {
            return null;
        }
        try {
            file.note(directory, name);
        } catch (IOException e) {
            // There is no room for it, so only the owner can reach the memory.
            Files.deleteIfExists(directory.file(name));
            return null;
        }
        return new MappedFile(directory.file(name), true, null, memory);
    }

    /// Maps the file of a peer's program that the note at this path names.
    ///
    /// @throws IOException if this process cannot find or use it
    public static MappedFile openOfProgram(Path note) throws IOException {
        return ProgramFile.open(note);
    }

    /// Creates a sparse file. Each part must be written before it is used.
    static MappedFile createSparse(ShmDirectory directory, String name, long bytes) throws IOException {
        return Uninterrupted.call(() -> {
            try (FileChannel channel = directory.create(name)) {
                // Writing the last byte sets the size of the file, and leaves a hole before it.
                channel.write(ByteBuffer.allocate(1), bytes - 1);
                return map(directory.file(name), channel, bytes, true);
            } catch (IOException | RuntimeException e) {
                Files.deleteIfExists(directory.file(name));
                throw e;
            }
        });
    }

    /// Whether this is a regular file. Opening a pipe can block forever, and opening a device can have side effects.
    ///
    /// @throws IOException if it is not there
    static boolean isPlain(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isRegularFile();
    }

    /// Maps a file of a peer.
    ///
    /// @throws IOException if it does not exist, or is not a regular file
    public static MappedFile open(Path path) throws IOException {
        if (!isPlain(path)) {
            throw new IOException(path + " is not a file");
        }
        return Uninterrupted.call(() -> {
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return map(path, channel, channel.size(), false);
            }
        });
    }

    /// Maps a part of a file of a peer.
    ///
    /// @return null if it does not exist, is not a regular file, or is too short
    /// @throws IOException if the system cannot map it
    public static @Nullable MemorySegment view(Path path, long from, long bytes, boolean writable, Arena arena)
            throws IOException {
        return Uninterrupted.<@Nullable MemorySegment>call(() -> {
            try {
                return isPlain(path) ? mapPart(path, from, bytes, writable, arena) : null;
            } catch (NoSuchFileException e) {
                return null;
            }
        });
    }

    /// Maps a part of a regular file, and never makes it longer.
    ///
    /// @return null if it is too short
    /// @throws IOException if the file cannot be opened, or the system cannot map it
    static @Nullable MemorySegment mapPart(Path path, long from, long bytes, boolean writable, Arena arena)
            throws IOException {
        // A link would lead to another file, perhaps one of this process only.
        Set<OpenOption> how = writable
                ? Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)
                : Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        try (FileChannel channel = FileChannel.open(path, how)) {
            // Mapping more than the file has would make it longer.
            return from < 0 || from > channel.size() - bytes
                    ? null
                    : channel.map(writable ? MapMode.READ_WRITE : MapMode.READ_ONLY, from, bytes, arena);
        }
    }

    private static MappedFile map(Path path, FileChannel channel, long bytes, boolean owner) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            return new MappedFile(path, owner, arena, channel.map(MapMode.READ_WRITE, 0, bytes, arena));
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /// Whether the program has mapped the file.
    public boolean isOfProgram() {
        return arena == null;
    }

    /// The whole file; of a file of the program, the part that it has registered.
    public MemorySegment segment() {
        return segment;
    }

    /// Maps a part of the file again, as a buffer for sockets. The JDK's gathered writes allocate two objects for
    /// each buffer that belongs to an arena, as those of [#segment] do.
    ///
    /// @throws IOException if it cannot be mapped
    public ByteBuffer map(long from, long bytes) throws IOException {
        if (isOfProgram()) {
            // There may be another file at its path by now.
            return segment.asSlice(from, bytes).asByteBuffer();
        }
        return segment.byteSize() > MOST_WHOLE ? mapAgain(from, bytes) : whole().slice((int) from, (int) bytes);
    }

    private synchronized ByteBuffer whole() throws IOException {
        ByteBuffer mapped = whole == null ? mapAgain(0, segment.byteSize()) : whole;
        whole = mapped;
        return mapped;
    }

    private ByteBuffer mapAgain(long from, long bytes) throws IOException {
        mappedAgain = true;
        return Uninterrupted.call(() -> {
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return channel.map(MapMode.READ_WRITE, from, bytes);
            }
        });
    }

    @Override
    public void close() throws IOException {
        close(false);
    }

    /// Unmaps the file. Mappings made by [#map(long, long)] stay until they are garbage-collected.
    ///
    /// @param idle whether no process that has mapped the file uses the memory; then it is freed at once
    public void close(boolean idle) throws IOException {
        if (arena != null) {
            arena.close();
        }
        if (owner) {
            if (idle && mappedAgain && Files.exists(path)) {
                empty();
            }
            Files.deleteIfExists(path);
        }
    }

    /// Any later access to the memory causes a SIGBUS.
    private void empty() throws IOException {
        Uninterrupted.call(() -> {
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                return channel.truncate(0);
            }
        });
    }
}
