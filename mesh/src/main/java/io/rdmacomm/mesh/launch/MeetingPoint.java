package io.rdmacomm.mesh.launch;

import io.rdmacomm.verbs.Printable;
import java.util.List;
import java.util.function.Consumer;

/// The rank of this node, and the host and port where all nodes meet. Immutable.
public final class MeetingPoint {
    /// The largest number of nodes.
    public static final int MAX_SIZE = 512;
    /// The default port.
    public static final int DEFAULT_PORT = 2030;

    private static final int MAX_TEXT = 255;
    private static final String GIVEN = "given";

    private final int rank;
    private final int size;
    private List<String> hosts;
    private int port;
    private boolean isListener;
    private boolean mayAppearLater;
    private String job = "";
    private String source = GIVEN;

    private MeetingPoint(int rank, int size, String host, int port) {
        this.rank = checkRange("rank", rank, 0, size - 1);
        this.size = size;
        this.hosts = List.of(checkText("host", host));
        this.port = checkRange("port", port, 1, 65535);
        this.isListener = rank == 0;
    }

    /// Rank 0 listens, on `host`.
    ///
    /// @param host empty for this host
    /// @throws IllegalArgumentException if a number is out of range
    public static MeetingPoint of(int rank, int size, String host, int port) {
        return new MeetingPoint(rank, checkRange("size", size, 1, MAX_SIZE), host, port);
    }

    private MeetingPoint with(Consumer<MeetingPoint> change) {
        MeetingPoint copy = new MeetingPoint(rank, size, host(), port);
        copy.hosts = hosts;
        copy.isListener = isListener;
        copy.mayAppearLater = mayAppearLater;
        copy.job = job;
        copy.source = source;
        change.accept(copy);
        return copy;
    }

    /// The same nodes at another place, where rank 0 listens.
    public MeetingPoint at(String newHost, int newPort) {
        MeetingPoint checked = of(rank, size, newHost, newPort);
        return with(to -> {
            to.hosts = checked.hosts;
            to.port = newPort;
            to.isListener = checked.isListener;
            to.source = source + ", at a given address";
        });
    }

    /// The same with the name of the job.
    public MeetingPoint withJob(String value) {
        return with(to -> to.job = checkText("job", value));
    }

    /// The same, found in another way.
    ///
    /// @param value what to say after "rank 0 of 4 at node7:2030"
    public MeetingPoint withSource(String value) {
        return with(to -> to.source = value);
    }

    /// The same with several addresses.
    ///
    /// @param value the addresses to try in turn
    /// @param listens whether this node listens
    MeetingPoint withHosts(List<String> value, boolean listens) {
        return with(to -> {
            to.hosts = List.copyOf(value);
            to.isListener = listens;
        });
    }

    /// The same with a host whose name may not exist yet.
    MeetingPoint withLaterName() {
        return with(to -> to.mayAppearLater = true);
    }

    /// The number of this node, from 0.
    public int rank() {
        return rank;
    }

    /// The number of nodes.
    public int size() {
        return size;
    }

    /// The first address; empty for this host.
    public String host() {
        return hosts.getFirst();
    }

    /// The addresses to try in turn.
    public List<String> hosts() {
        return hosts;
    }

    /// The TCP port.
    public int port() {
        return port;
    }

    /// Whether this node is the one that listens.
    public boolean isListener() {
        return isListener;
    }

    /// Whether the name of the host may not exist yet.
    public boolean mayAppearLater() {
        return mayAppearLater;
    }

    /// The name of the job; empty if it has none.
    public String job() {
        return job;
    }

    /// The source of this: `given` if not from a launcher or a host file.
    public String source() {
        return source;
    }

    private static int checkRange(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " of the mesh is " + value + ", must be " + min + " to " + max);
        }
        return value;
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
