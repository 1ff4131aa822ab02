package io.rdmacomm.mesh;

import io.rdmacomm.mesh.launch.HostFile;
import io.rdmacomm.mesh.launch.MeetingPoint;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// The place where the nodes of a mesh meet, and the rank of this one. Immutable.
///
/// All nodes know the same host and port. One of them listens there, usually rank 0, until all have connected.
public final class Rendezvous {
    /// The largest number of nodes.
    public static final int MAX_SIZE = MeetingPoint.MAX_SIZE;
    /// The default port.
    public static final int DEFAULT_PORT = MeetingPoint.DEFAULT_PORT;

    private final MeetingPoint point;

    private Rendezvous(MeetingPoint point) {
        this.point = point;
    }

    /// A rendezvous without a launcher. Rank 0 listens, and must run on `host`.
    ///
    /// @param rank the number of this node, from 0
    /// @param size the number of nodes, at most [#MAX_SIZE]
    /// @param host the name or address of the host of rank 0; empty for this host
    /// @param port a free TCP port of that host
    /// @throws IllegalArgumentException if a number is out of range
    public static Rendezvous of(int rank, int size, String host, int port) {
        return new Rendezvous(MeetingPoint.of(rank, size, host, port));
    }

    /// The nodes of this host according to a host file, which is the same on all hosts: usually one, more if it
    /// gives this host several slots. A line is `HOST`, `HOST slots=N`, or `HOST:N`; ranks are counted from the
    /// first line; `#` begins a comment. They meet on the host of rank 0. Resolves the names, which may block.
    ///
    /// @return at least one, by rank
    /// @throws IllegalArgumentException if the file cannot be read, a line is wrong, or this host is not in it
    public static List<Rendezvous> ofHostFile(Path file, int port) {
        return HostFile.meetingPoints(file, port).stream().map(Rendezvous::new).toList();
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
            MeetingPoint point = launcher.read(environment);
            return new Rendezvous(
                    point.withSource(others.isEmpty() ? words : words + ", not those of " + String.join(", ", others)));
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
        return new Rendezvous(point.at(newHost, newPort));
    }

    /// The same with the name of the job: nodes of another job are rejected.
    ///
    /// @throws IllegalArgumentException if it has more than 255 characters, or some that are not printable
    public Rendezvous withJob(String value) {
        return new Rendezvous(point.withJob(value));
    }

    /// The number of this node, from 0.
    public int rank() {
        return point.rank();
    }

    /// The number of nodes.
    public int size() {
        return point.size();
    }

    /// The host where they meet; empty for this one.
    public String host() {
        return point.host();
    }

    /// The TCP port where they meet.
    public int port() {
        return point.port();
    }

    /// The name of the job; empty if it has none.
    public String job() {
        return point.job();
    }

    /// The source of this, in words: `given` if not from a launcher or a host file.
    public String source() {
        return point.source();
    }

    MeetingPoint point() {
        return point;
    }

    @Override
    public String toString() {
        return point.toString();
    }
}
