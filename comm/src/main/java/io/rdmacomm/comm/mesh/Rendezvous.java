package io.rdmacomm.comm.mesh;

import io.rdmacomm.comm.text.Printable;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// Where the nodes of a mesh meet, and which of them this one is. Immutable.
///
/// All nodes know the same host and port; one of them listens there, usually rank 0, until all have come.
public final class Rendezvous {
    /// The largest number of nodes.
    public static final int MAX_SIZE = 512;
    /// The port where nothing names another one.
    public static final int DEFAULT_PORT = 2030;

    private static final int MAX_TEXT = 255;
    private static final String GIVEN = "given";

    private final int rank;
    private final int size;
    private final int port;
    private final String source;
    private final String job;
    private final Meeting meeting;

    /// @param hosts the addresses to try in turn
    /// @param isListener whether this node listens
    /// @param isPatient whether the name may come to exist later
    private record Meeting(List<String> hosts, boolean isListener, boolean isPatient) {}

    private Rendezvous(int rank, int size, int port, String source, String job, Meeting meeting) {
        this.rank = rank;
        this.size = size;
        this.port = port;
        this.source = source;
        this.job = job;
        this.meeting = meeting;
    }

    /// Without a launcher. Rank 0 listens, and must run on `host`.
    ///
    /// @param rank which node this is, from 0
    /// @param size the number of nodes, at most [#MAX_SIZE]
    /// @param host the name or address of the host of rank 0; empty for this host
    /// @param port a free TCP port of that host
    /// @throws IllegalArgumentException if a number is out of range
    public static Rendezvous of(int rank, int size, String host, int port) {
        checkRange("size", size, 1, MAX_SIZE);
        checkRange("rank", rank, 0, size - 1);
        checkRange("port", port, 1, 65535);
        checkText("host", host);
        return new Rendezvous(rank, size, port, GIVEN, "", new Meeting(List.of(host), rank == 0, false));
    }

    /// The nodes of this host according to a host file, which is the same on all hosts: usually one, more if it
    /// gives this host several slots. A line is `HOST`, `HOST slots=N`, or `HOST:N`; ranks are counted from the
    /// first line; `#` begins a comment. They meet on the host of rank 0. Resolves the names, which may block.
    ///
    /// @return at least one, by rank
    /// @throws IllegalArgumentException if the file cannot be read, a line is wrong, or this host is not in it
    public static List<Rendezvous> ofHostFile(Path file, int port) {
        HostFile read = HostFile.read(file);
        List<Integer> ranks = read.localRanks(LocalHosts::isLocal);
        if (ranks.isEmpty()) {
            throw new IllegalArgumentException(
                    "host file " + file + " does not name this host; add its name or one of its addresses");
        }
        String job = "hosts " + Integer.toHexString(read.hosts().hashCode());
        return ranks.stream()
                .map(rank -> of(rank, read.hosts().size(), read.hosts().getFirst(), port)
                        .withJob(job)
                        .withSource("host file " + Printable.text(file.toString())))
                .toList();
    }

    /// A rendezvous from the environment variables of this process.
    ///
    /// @throws IllegalArgumentException see [#ofEnvironment(Map)]
    public static Rendezvous ofEnvironment() {
        return ofEnvironment(System.getenv());
    }

    /// A rendezvous from environment variables; if those of several launchers are set, the first of [Launcher].
    ///
    /// @throws IllegalArgumentException if no launcher has set its variables, or one of them is missing or
    ///         wrong; the message names it and its value
    public static Rendezvous ofEnvironment(Map<String, String> environment) {
        List<Launcher> present = Launcher.present(environment);
        if (present.isEmpty()) {
            throw new IllegalArgumentException(
                    "no launcher has set its variables; start with mpirun, srun or torchrun, or give rank, size and"
                            + " rendezvous");
        }
        return ofEnvironment(environment, present.getFirst());
    }

    /// A rendezvous from the environment variables of one launcher.
    ///
    /// @throws IllegalArgumentException if one of them is missing or wrong; the message names it and its value
    public static Rendezvous ofEnvironment(Map<String, String> environment, Launcher launcher) {
        try {
            List<String> others = Launcher.present(environment).stream()
                    .filter(other -> other != launcher)
                    .map(Launcher::toString)
                    .toList();
            String words = "the variables of " + launcher;
            return launcher.read(environment)
                    .withSource(others.isEmpty() ? words : words + ", not those of " + String.join(", ", others));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the variables of " + launcher + " are wrong: " + e.getMessage(), e);
        }
    }

    /// The same nodes at another place, where rank 0 listens.
    ///
    /// @param newHost the name or address of the host of rank 0; empty for this host
    /// @param newPort a free TCP port of that host
    /// @throws IllegalArgumentException if the port is out of range
    public Rendezvous at(String newHost, int newPort) {
        checkRange("port", newPort, 1, 65535);
        checkText("host", newHost);
        return new Rendezvous(
                rank,
                size,
                newPort,
                source + ", at a given address",
                job,
                new Meeting(List.of(newHost), rank == 0, meeting.isPatient()));
    }

    /// The same with the name of the job: nodes of another job are turned away.
    ///
    /// @throws IllegalArgumentException if it has more than 255 characters, or some that are not printable
    public Rendezvous withJob(String value) {
        return new Rendezvous(rank, size, port, source, checkText("job", value), meeting);
    }

    Rendezvous withSource(String value) {
        return new Rendezvous(rank, size, port, value, job, meeting);
    }

    Rendezvous withHosts(List<String> hosts, boolean isListener) {
        return new Rendezvous(rank, size, port, source, job, new Meeting(hosts, isListener, meeting.isPatient()));
    }

    Rendezvous withPatienceForName() {
        return new Rendezvous(rank, size, port, source, job, new Meeting(meeting.hosts(), meeting.isListener(), true));
    }

    /// Which node this is, from 0.
    public int rank() {
        return rank;
    }

    /// The number of nodes.
    public int size() {
        return size;
    }

    /// The host where they meet; empty for this one.
    public String host() {
        return meeting.hosts().getFirst();
    }

    /// The TCP port where they meet.
    public int port() {
        return port;
    }

    /// The name of the job; empty if it has none.
    public String job() {
        return job;
    }

    /// Where this was taken from, in words: `given` if from none of launcher and host file.
    public String source() {
        return source;
    }

    /// The addresses at which to look for it, in turn.
    List<String> hosts() {
        return meeting.hosts();
    }

    /// Whether this node is the one that listens.
    boolean isListener() {
        return meeting.isListener();
    }

    /// Whether the name of the host may come to exist later.
    boolean isPatientWithName() {
        return meeting.isPatient();
    }

    private static void checkRange(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " of the mesh is " + value + ", must be " + min + " to " + max);
        }
    }

    private static String checkText(String what, String value) {
        if (value.length() > MAX_TEXT || !Printable.is(value)) {
            throw new IllegalArgumentException(what + " of the mesh is '" + Printable.text(value)
                    + "', must have at most " + MAX_TEXT + " characters, all of them printable");
        }
        return value;
    }

    @Override
    public String toString() {
        String where = host().isEmpty() ? "localhost" : host();
        String from = source.equals(GIVEN) ? "" : " (" + source + ")";
        return "rank " + rank + " of " + size + " at " + where + ":" + port + from;
    }
}
