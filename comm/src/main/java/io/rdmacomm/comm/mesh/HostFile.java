package io.rdmacomm.comm.mesh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;

/// The hosts of the nodes by rank. A line is `HOST`, `HOST slots=N` as Open MPI has it, or `HOST:N` as MPICH
/// has it; `#` begins a comment.
///
/// @param hosts one for each node
record HostFile(List<String> hosts) {
    private static final long MAX_BYTES = 1 << 20;

    HostFile {
        hosts = List.copyOf(hosts);
    }

    /// @throws IllegalArgumentException if it cannot be read or a line is wrong; the message names file and line
    static HostFile read(Path file) {
        List<String> lines;
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw new IllegalArgumentException("host file " + file + " has more than " + MAX_BYTES + " bytes");
            }
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("host file " + file + " does not exist", e);
        } catch (IOException e) {
            throw new IllegalArgumentException("host file " + file + " cannot be read: " + e.getMessage(), e);
        }
        List<String> hosts = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            try {
                hosts.addAll(nodes(lines.get(i).replaceFirst("#.*", "").strip()));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "host file " + file + ", line " + (i + 1) + ": " + e.getMessage(), e);
            }
            if (hosts.size() > Rendezvous.MAX_SIZE) {
                throw new IllegalArgumentException(
                        "host file " + file + " has more than " + Rendezvous.MAX_SIZE + " nodes");
            }
        }
        if (hosts.isEmpty()) {
            throw new IllegalArgumentException("host file " + file + " names no host");
        }
        return new HostFile(hosts);
    }

    private static List<String> nodes(String line) {
        if (line.isEmpty()) {
            return List.of();
        }
        String[] words = line.split("\\s+", -1);
        String host = words[0];
        int slots = 1;
        int colon = host.indexOf(':');
        if (colon > 0 && colon == host.lastIndexOf(':')) {
            slots = slots(host.substring(colon + 1));
            host = host.substring(0, colon);
        }
        for (int i = 1; i < words.length; i++) {
            if (!words[i].startsWith("slots=")) {
                throw new IllegalArgumentException("'" + words[i] + "' is not 'slots=N'");
            }
            slots = slots(words[i].substring("slots=".length()));
        }
        return Collections.nCopies(slots, host);
    }

    private static int slots(String text) {
        try {
            int slots = Integer.parseInt(text);
            if (slots >= 1 && slots <= Rendezvous.MAX_SIZE) {
                return slots;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException(
                "the number of slots is '" + text + "', must be 1 to " + Rendezvous.MAX_SIZE);
    }

    /// The ranks whose host is this one, ascending.
    ///
    /// @param local tells the names of this host
    List<Integer> localRanks(Predicate<String> local) {
        List<String> own = hosts.stream().distinct().filter(local).toList();
        List<Integer> ranks = new ArrayList<>();
        for (int rank = 0; rank < hosts.size(); rank++) {
            if (own.contains(hosts.get(rank))) {
                ranks.add(rank);
            }
        }
        return ranks;
    }
}
