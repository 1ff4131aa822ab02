package io.rdmacomm.cli.devices;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// The kernel's TCP counters (proc_net(5)) of this host, or of the network namespace in a container. They count all
/// connections of all programs since the host started; Java cannot ask for those of one connection.
///
/// @param segmentsIn received segments
/// @param segmentsOut sent segments, without retransmitted ones
/// @param retransmitted retransmitted segments
/// @param fastRetransmitted segments retransmitted because later ones were acknowledged
/// @param timeouts how often no acknowledgment came in time
/// @param resets sent resets
record TcpStatistics(
        long segmentsIn, long segmentsOut, long retransmitted, long fastRetransmitted, long timeouts, long resets) {
    private static final Path FOLDER = Path.of("/proc/net");
    private static final int LONGEST = 1 << 16;

    /// Reads the counters. Empty if the kernel does not report them.
    static Optional<TcpStatistics> ofHost() {
        return read(FOLDER);
    }

    static Optional<TcpStatistics> read(Path folder) {
        Map<String, Long> found = new HashMap<>();
        add("Tcp:", folder.resolve("snmp"), found);
        if (!found.containsKey("RetransSegs")) {
            return Optional.empty();
        }
        add("TcpExt:", folder.resolve("netstat"), found);
        return Optional.of(new TcpStatistics(
                found.getOrDefault("InSegs", 0L),
                found.getOrDefault("OutSegs", 0L),
                found.getOrDefault("RetransSegs", 0L),
                found.getOrDefault("TCPFastRetrans", 0L),
                found.getOrDefault("TCPTimeouts", 0L),
                found.getOrDefault("OutRsts", 0L)));
    }

    /// Adds the numbers of a table, which is a line of names and a line of values, both beginning with its title.
    private static void add(String title, Path file, Map<String, Long> found) {
        String text;
        try (InputStream in = Files.newInputStream(file)) {
            text = new String(in.readNBytes(LONGEST), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return;
        }
        String[][] lines = text.lines()
                .filter(line -> line.startsWith(title))
                .limit(2)
                .map(line -> line.split(" ", -1))
                .toArray(String[][]::new);
        for (int i = 1; lines.length == 2 && i < Math.min(lines[0].length, lines[1].length); i++) {
            try {
                found.put(lines[0][i], Long.parseLong(lines[1][i]));
            } catch (NumberFormatException e) {
                // Ignore a value of a later kernel.
            }
        }
    }
}
