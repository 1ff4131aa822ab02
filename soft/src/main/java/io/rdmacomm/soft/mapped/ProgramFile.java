package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/// A part of a file that the program has mapped and registered. A note in the folder of its context tells peers
/// which, so that they map it, too (decision 110). They use it only if it is the same file.
///
/// @param identity of the file, whatever is at its path
/// @param isWritable whether its owner has mapped it for writing
/// @param offset where in the file the part begins
/// @param bytes its length
/// @param path where the file was when its owner opened it
record ProgramFile(String identity, boolean isWritable, long offset, long bytes, Path path) {
    private static final int FIELDS = 5;

    /// The file behind memory of this process; null if it is not shared memory of a file, or if the file cannot be
    /// found.
    static @Nullable ProgramFile behind(MemorySegment memory) {
        try {
            Mapping mapping = Mapping.of(memory);
            if (mapping == null || !mapping.isShared()) {
                return null;
            }
            Path path = Path.of(mapping.path());
            if (!mapping.isWritable() && isOverlay(path)) {
                return null;
            }
            return new ProgramFile(
                    identity(mapping, path), mapping.isWritable(), mapping.offsetOf(memory), memory.byteSize(), path);
        } catch (IOException | InvalidPathException e) {
            return null;
        }
    }

    /// Whether the file can be replaced under the same identity: overlayfs copies a file when it is first opened for
    /// writing, and those who had mapped it before keep the old one. Who has mapped it for writing has the copy.
    private static boolean isOverlay(Path path) throws IOException {
        return Files.getFileStore(path).type().contains("overlay");
    }

    /// The kernel's name of the file that is mapped, and that of the file at the path: some file systems give
    /// only both together a meaning, as inode numbers of snapshots are those of the original (btrfs).
    private static String identity(Mapping mapping, Path path) throws IOException {
        BasicFileAttributes attributes =
                Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!attributes.isRegularFile()) {
            throw new IOException(path + " is not a file");
        }
        return mapping.file() + ' ' + attributes.fileKey();
    }

    /// Writes the note.
    void note(ShmDirectory directory, String name) throws IOException {
        Uninterrupted.call(() -> {
            Files.deleteIfExists(directory.file(name));
            try (FileChannel channel = directory.create(name)) {
                String text = String.join(
                        "\n",
                        identity,
                        Boolean.toString(isWritable),
                        Long.toString(offset),
                        Long.toString(bytes),
                        path.toString());
                return channel.write(StandardCharsets.UTF_8.encode(text));
            }
        });
    }

    /// Reads the note of a peer.
    ///
    /// @throws IOException if there is none, or it is not a note
    private static ProgramFile read(Path note) throws IOException {
        if (!MappedFile.isPlain(note)) {
            throw new IOException(note + " is not a file");
        }
        String[] fields = Uninterrupted.call(() -> Files.readString(note)).split("\n", FIELDS);
        try {
            return new ProgramFile(
                    fields[0],
                    Boolean.parseBoolean(fields[1]),
                    Long.parseLong(fields[2]),
                    Long.parseLong(fields[3]),
                    Path.of(fields[4]));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new IOException(note + " is not a note", e);
        }
    }

    /// Maps the part of a file that a peer's note names. It never makes the file longer.
    ///
    /// @throws IOException if the file is not there, is another one by now, is too short, or this process may not
    ///         open it: then only its owner can reach the memory
    static MappedFile open(Path note) throws IOException {
        ProgramFile file = read(note);
        // First, because opening a pipe can block for ever.
        if (!MappedFile.isPlain(file.path)) {
            throw new IOException(file.path + " is not a file");
        }
        return Uninterrupted.call(file::map);
    }

    private MappedFile map() throws IOException {
        Arena arena = Arena.ofShared();
        boolean same = false;
        try {
            MemorySegment memory = bytes < 1 ? null : MappedFile.mapPart(path, offset, bytes, isWritable, arena);
            if (memory == null) {
                throw new IOException(path + " is too short");
            }
            Mapping mapping = Mapping.of(memory);
            if (mapping == null || !identity.equals(identity(mapping, path))) {
                throw new IOException(path + " is another file by now");
            }
            same = true;
            return new MappedFile(path, false, arena, memory);
        } finally {
            if (!same) {
                arena.close();
            }
        }
    }
}
