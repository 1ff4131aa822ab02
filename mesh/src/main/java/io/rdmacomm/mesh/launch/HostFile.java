package io.rdmacomm.mesh.launch;

import io.rdmacomm.verbs.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;

/// The hosts of the nodes by rank. A line is `HOST`, `HOST slots=N` as Open MPI has it, or `HOST:N` as MPICH has
/// it; `#` begins a comment. `max_slots=N`, which Open MPI also has, changes nothing: no host gets more nodes than
/// slots. An IPv6 address may be in brackets.
///
/// @param hosts one for each node
public record HostFile(List<String> hosts) {
    private static final int MAX_BYTES = 1 << 20;
    private static final String BYTE_ORDER_MARK = "\ufeff";

    /// Copies the list.
    public HostFile {
        hosts = List.copyOf(hosts);
    }

    /// Reads a file.
    ///
    /// @throws IllegalArgumentException if it cannot be read or a line is wrong; the message names file and line
    public static HostFile read(Path file) {
        String name = "host file " + Printable.text(file.toString());
        List<String> lines = lines(file, name);
        List<String> hosts = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            try {
                hosts.addAll(nodes(words(lines.get(i))));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(name + ", line " + (i + 1) + ": " + e.getMessage(), e);
            }
            if (hosts.size() > MeetingPoint.MAX_SIZE) {
                throw new IllegalArgumentException(name + " has more than " + MeetingPoint.MAX_SIZE + " nodes");
            }
        }
        if (hosts.isEmpty()) {
            throw new IllegalArgumentException(name + " names no host");
        }
        return new HostFile(hosts);
    }

    /// Comments may have any encoding, and Windows editors begin a file with a byte order mark.
    private static List<String> lines(Path file, String name) {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException(name + " does not exist", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(name + " cannot be read: " + e.getMessage(), e);
        }
        if (bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException(name + " has more than " + MAX_BYTES + " bytes");
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        return (text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text)
                .lines()
                .toList();
    }

    private static List<String> words(String line) {
        String content = line.replaceFirst("#.*", "").strip();
        return content.isEmpty()
                ? List.of()
                : Arrays.stream(content.split("\\s+", -1)).map(Printable::text).toList();
    }

    private static List<String> nodes(List<String> words) {
        if (words.isEmpty()) {
            return List.of();
        }
        String first = words.getFirst();
        String host = host(first);
        int slots = 1;
        int most = MeetingPoint.MAX_SIZE;
        int counted = first.startsWith("[") ? host.length() + 2 : host.length();
        if (counted < first.length()) {
            slots = slots(first.substring(counted + 1));
        }
        for (String word : words.subList(1, words.size())) {
            int equals = word.indexOf('=') + 1;
            String value = word.substring(equals);
            switch (word.substring(0, equals)) {
                case "slots=" -> slots = slots(value);
                case "max_slots=", "max-slots=", "slots_max=", "slots-max=" -> most = slots(value);
                default -> throw new IllegalArgumentException("'" + word + "' is not 'slots=N' or 'max_slots=N'");
            }
        }
        if (most < slots) {
            throw new IllegalArgumentException(slots + " slots are more than max_slots, which is " + most);
        }
        return Collections.nCopies(slots, host);
    }

    /// The host at the beginning of `HOST`, `HOST:N`, `[HOST]` or `[HOST]:N`.
    private static String host(String word) {
        int colon = word.indexOf(':');
        if (!word.startsWith("[")) {
            return colon > 0 && colon == word.lastIndexOf(':') ? word.substring(0, colon) : word;
        }
        int end = word.indexOf(']');
        if (end < 2 || (end + 1 < word.length() && word.charAt(end + 1) != ':')) {
            throw new IllegalArgumentException("'" + word + "' is not [ADDRESS] or [ADDRESS]:N");
        }
        return word.substring(1, end);
    }

    private static int slots(String text) {
        try {
            int slots = Integer.parseInt(text);
            if (slots >= 1 && slots <= MeetingPoint.MAX_SIZE) {
                return slots;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException(
                "the number of slots is '" + text + "', must be 1 to " + MeetingPoint.MAX_SIZE);
    }

    /// The meeting points of the nodes of this host, by rank; they are on the first host.
    ///
    /// @throws IllegalArgumentException if the file cannot be read, a line is wrong, or this host is not in it
    public static List<MeetingPoint> meetingPoints(Path file, int port) {
        HostFile read = read(file);
        List<Integer> ranks = read.localRanks(LocalHosts::isLocal);
        if (ranks.isEmpty()) {
            throw new IllegalArgumentException(
                    "host file " + file + " does not name this host; add its name or one of its addresses");
        }
        String job = "hosts " + Integer.toHexString(read.hosts().hashCode());
        String source = "host file " + Printable.text(file.toString());
        return ranks.stream()
                .map(rank -> MeetingPoint.of(
                                rank, read.hosts().size(), read.hosts().getFirst(), port)
                        .withJob(job)
                        .withSource(source))
                .toList();
    }

    /// The ranks whose host is this one, ascending.
    ///
    /// @param local whether a name is one of this host
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
