package io.rdmacomm.ibverbs.objects;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/// The counters of a port. The kernel shows each as a file: `counters` has those of InfiniBand, and `hw_counters`
/// the driver's own.
final class PortCounters {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final int LONGEST = 32;
    private static final int MOST = 1000;
    /// In `hw_counters`, the milliseconds that the kernel caches the counters; not a counter.
    private static final String LIFESPAN = "lifespan";

    private PortCounters() {}

    /// The counters of a port; empty where the driver has none.
    static Map<String, Long> read(String device, int port) {
        return read(folder(device, port));
    }

    /// The folder of a port.
    static Path folder(String device, int port) {
        return DEVICES.resolve(device).resolve("ports").resolve(Integer.toString(port));
    }

    /// The counters in the folder of a port.
    static Map<String, Long> read(Path folder) {
        Map<String, Long> counters = new TreeMap<>();
        add(folder.resolve("counters"), counters);
        add(folder.resolve("hw_counters"), counters);
        return counters;
    }

    private static void add(Path folder, Map<String, Long> counters) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (!name.equals(LIFESPAN) && counters.size() < MOST && Files.isRegularFile(file)) {
                    add(name, file, counters);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // Most software devices have one of the folders, or neither.
        }
    }

    /// Adds a counter. If the port does not have it, its file cannot be read or contains words.
    private static void add(String name, Path file, Map<String, Long> counters) {
        try (InputStream in = Files.newInputStream(file)) {
            String text = new String(in.readNBytes(LONGEST), StandardCharsets.US_ASCII).strip();
            counters.put(name, Long.parseUnsignedLong(text));
        } catch (IOException | NumberFormatException e) {
            // The port does not have it.
        }
    }
}
