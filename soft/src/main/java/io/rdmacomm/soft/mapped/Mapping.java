package io.rdmacomm.soft.mapped;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// What the kernel says of memory that this process has mapped (proc_pid_maps(5)). It names the file itself, and
/// not what is at the path of the file by now.
///
/// @param start the first address
/// @param isShared whether stores reach the file
/// @param isWritable whether this process may store
/// @param offset where in the file it begins
/// @param file the device and the inode of the file
/// @param path of the file when it was opened; the kernel adds to it if the file was removed
record Mapping(long start, boolean isShared, boolean isWritable, long offset, String file, String path) {
    private static final String MAPS = "/proc/self/maps";
    private static final int FIELDS = 6;

    /// The mapping that has all of this memory; null if there is none, or none of a file.
    ///
    /// @throws IOException if the system does not tell
    static @Nullable Mapping of(MemorySegment memory) throws IOException {
        long address = memory.address();
        // Not a channel: an interrupt would close it.
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(new FileInputStream(MAPS), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int dash = line.indexOf('-');
                int space = line.indexOf(' ');
                long start = Long.parseUnsignedLong(line, 0, dash, 16);
                long end = Long.parseUnsignedLong(line, dash + 1, space, 16);
                if (start <= address && address < end) {
                    return address + memory.byteSize() <= end ? parse(line, start) : null;
                }
            }
            return null;
        }
    }

    /// `start-end perms offset device inode path`
    private static @Nullable Mapping parse(String line, long start) {
        String[] fields = line.split(" +", FIELDS);
        if (fields.length < FIELDS || !fields[FIELDS - 1].startsWith("/")) {
            return null;
        }
        return new Mapping(
                start,
                fields[1].endsWith("s"),
                fields[1].startsWith("w", 1),
                Long.parseUnsignedLong(fields[2], 16),
                fields[3] + ' ' + fields[4],
                fields[5]);
    }

    /// Where in the file memory of this mapping begins.
    long offsetOf(MemorySegment memory) {
        return offset + memory.address() - start;
    }
}
