package io.rdmacomm.tests.simulation;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.mesh.Algorithm;
import io.rdmacomm.comm.mesh.AlgorithmChoice;
import io.rdmacomm.comm.mesh.CollectiveKind;
import io.rdmacomm.comm.mesh.CollectiveOptions;
import io.rdmacomm.comm.mesh.Elements;
import io.rdmacomm.comm.mesh.MeshMemory;
import io.rdmacomm.comm.mesh.Reduction;
import io.rdmacomm.comm.mesh.SimulatedMesh;
import io.rdmacomm.comm.mesh.SimulatedRendezvous;
import io.rdmacomm.tests.simulation.clock.Network;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Prints the tables of docs/47-scale.md. Arguments: numbers of nodes, by default 16, 256, 1000 and 10000; `set-up`,
/// `memory` or `collectives` for one table; `most N` for the most
/// pieces of a ring, and connections of a mesh that joins, that are simulated in full.
public final class ScaleTable {
    private static final ChannelOptions CHANNEL = ChannelOptions.defaults();
    private static final long[] LENGTHS = {8, 64 << 10, 1 << 20, 64 << 20};
    private static final double MIB = 1 << 20;
    /// The bound of ManyConnectionsTest for one over TCP.
    private static final double QUEUE_PAIR_BYTES = 64 << 10;
    /// A ring in which all ranks together send more pieces is extrapolated, and such a tree is left out; a mesh with
    /// more connections is extrapolated.
    private static final long MOST_PIECES = 6_000_000;
    private static final int SPREAD_SECONDS = 5;
    /// A larger mesh that joins is extrapolated from one of this size and one of twice this size.
    private static final int SMALL_JOIN = 500;
    /// A larger ring is extrapolated from one of this size and one of twice this size.
    private static final int SMALL_RING = 250;

    private final List<Integer> sizes = new ArrayList<>();
    private final List<String> tables = new ArrayList<>();
    private long most = MOST_PIECES;

    private ScaleTable(String[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i].equals("most")) {
                most = Long.parseLong(arguments[++i]);
            } else if (Character.isDigit(arguments[i].charAt(0))) {
                sizes.add(Integer.parseInt(arguments[i]));
            } else {
                tables.add(arguments[i]);
            }
        }
        if (sizes.isEmpty()) {
            sizes.addAll(List.of(16, 256, 1000, 10_000));
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        ScaleTable table = new ScaleTable(arguments);
        if (table.wants("set-up")) {
            table.setUp();
        }
        if (table.wants("memory")) {
            table.memory();
        }
        if (table.wants("collectives")) {
            table.collectives(Network.adapters());
            table.collectives(Network.tcp());
        }
    }

    private boolean wants(String table) {
        return tables.isEmpty() || tables.contains(table);
    }

    private static void row(Object... cells) {
        StringBuilder line = new StringBuilder("|");
        for (Object cell : cells) {
            line.append(' ').append(cell).append(" |");
        }
        System.out.println(line);
    }

    private static void head(String... cells) {
        row((Object[]) cells);
        System.out.println("|---".repeat(cells.length) + "|");
    }

    private static String number(double value) {
        String format = value >= 100 ? "%,.0f" : value >= 1 ? "%.1f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }

    private static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    // Set-up.

    private void setUp() {
        System.out.println();
        head(
                "nodes",
                "first connected",
                "start",
                "connections of all nodes",
                "table, bytes",
                "all have the table, s",
                "all connected, s",
                "SYNs dropped",
                "closed by the rendezvous",
                "refused by a session",
                "set up at a time by one node",
                "longest step, s",
                "simulated");
        for (int size : sizes) {
            JoinCosts atOnce = JoinCosts.usual();
            JoinCosts slowly = atOnce.startingWithin(SPREAD_SECONDS);
            print(size, "next lower rank", "at once", SimulatedJoin.inOrder(size, atOnce));
            print(size, "next lower rank", "within " + SPREAD_SECONDS + " s", SimulatedJoin.inOrder(size, slowly));
            if (isSimulatedInFull(size)) {
                print(size, "rank 0", "at once", SimulatedJoin.inOppositeOrder(size, atOnce));
            }
        }
    }

    private boolean isSimulatedInFull(int size) {
        return (long) size * size / 2 <= most;
    }

    private void print(int size, String first, String start, SimulatedJoin join) {
        boolean whole = isSimulatedInFull(size);
        SimulatedJoin.Result result = whole ? join.run() : join.meet();
        double seconds = whole ? result.seconds() : result.tableSeconds() + connecting(size);
        row(
                count(size),
                first,
                start,
                count(result.connections()),
                count(result.tableBytes())
                        + (result.tableBytes() > SimulatedRendezvous.LONGEST_FRAME ? " (too long)" : ""),
                number(result.tableSeconds()),
                number(seconds),
                count(result.dropped()),
                count(result.closed()),
                whole ? count(result.refused()) : "",
                whole ? count(result.mostSettingUp()) : "",
                whole ? number(result.longestStep()) : "",
                whole ? "in full" : "until the table");
    }

    /// How long nodes connect after they have the table. Each is the server of one client at a time, so this grows by
    /// the same with each node.
    private static double connecting(int size) {
        double one = connectingInFull(SMALL_JOIN);
        double two = connectingInFull(2 * SMALL_JOIN);
        return one + (two - one) * (size - SMALL_JOIN) / SMALL_JOIN;
    }

    private static double connectingInFull(int size) {
        SimulatedJoin.Result result =
                SimulatedJoin.inOrder(size, JoinCosts.usual()).run();
        return result.seconds() - result.tableSeconds();
    }

    // Memory.

    /// The most peers that a rank has in barriers and all-reduces by recursive doubling, ring and double binary tree.
    private static int peersInUse(int size) throws InterruptedException {
        SimulatedMesh mesh = SimulatedMesh.withoutData(Network.hops(), size, CollectiveOptions.defaults());
        // The neighbors in the ring are those of the first round of the barrier.
        run(mesh, CollectiveKind.BARRIER, Algorithm.DISSEMINATION, 1);
        run(mesh, CollectiveKind.ALL_REDUCE, Algorithm.RECURSIVE_DOUBLING, 1);
        run(mesh, CollectiveKind.ALL_REDUCE, Algorithm.DOUBLE_TREE, 2);
        return mesh.mostPeers();
    }

    private void memory() throws InterruptedException {
        System.out.println();
        head(
                "nodes",
                "receives, MiB",
                "control and cells, MiB",
                "slots, MiB",
                "queue pairs",
                "queue pairs of soft, MiB",
                "together, MiB",
                "with shared receives, MiB",
                "peers in use",
                "connected on demand, MiB");
        for (int size : sizes) {
            int peers = size - 1;
            int used = peersInUse(size);
            SharedReceives pool = new SharedReceives(2 * peers * 2 + 2048, 2 * peers, 2);
            double receives = peers * MeshMemory.receives(CHANNEL) / MIB;
            double control = peers * MeshMemory.control(CHANNEL) / MIB;
            double slots = peers * MeshMemory.slots(CHANNEL, CollectiveOptions.defaults(), peers) / MIB;
            double queues = peers * 3.0 * QUEUE_PAIR_BYTES / MIB;
            double shared = MeshMemory.sharedReceives(pool, CHANNEL) / MIB;
            double onDemand = used
                    * (MeshMemory.receives(CHANNEL)
                            + MeshMemory.control(CHANNEL)
                            + MeshMemory.slots(CHANNEL, CollectiveOptions.defaults(), used)
                            + 3.0 * QUEUE_PAIR_BYTES)
                    / MIB;
            row(
                    count(size),
                    number(receives),
                    number(control),
                    number(slots),
                    count(3L * peers),
                    number(queues),
                    number(receives + control + slots + queues),
                    number(shared + control + slots + queues),
                    used,
                    number(onDemand));
        }
    }

    // Collectives.

    private void collectives(Network network) throws InterruptedException {
        System.out.println();
        System.out.println(network);
        head("nodes", "all-reduce of", "algorithm", "hops", "pieces of a rank", "notices", "time, ms", "simulated");
        for (int size : sizes) {
            print(size, 0, CollectiveKind.BARRIER, Algorithm.DISSEMINATION, network);
            for (long bytes : LENGTHS) {
                Algorithm usual = AlgorithmChoice.defaults().algorithm(CollectiveKind.ALL_REDUCE, size, bytes);
                print(size, bytes, CollectiveKind.ALL_REDUCE, usual, network);
                if (usual == Algorithm.RING) {
                    print(size, bytes, CollectiveKind.ALL_REDUCE, Algorithm.DOUBLE_TREE, network);
                }
            }
        }
    }

    private void print(int size, long bytes, CollectiveKind kind, Algorithm algorithm, Network network)
            throws InterruptedException {
        CollectiveOptions options = SimulatedMesh.settled(CollectiveOptions.defaults(), size);
        long count = bytes / Float.BYTES;
        if (algorithm == Algorithm.DOUBLE_TREE && 2L * size * (bytes / options.slotBytes()) > most) {
            return;
        }
        boolean whole = algorithm != Algorithm.RING || ringPieces(size, bytes, options) <= most;
        Cost hops = whole
                ? Cost.of(size, count, options, kind, algorithm, Network.hops())
                : extrapolated(size, count, options, Network.hops());
        Cost cost = whole
                ? Cost.of(size, count, options, kind, algorithm, network)
                : extrapolated(size, count, options, network);
        row(
                count(size),
                kind == CollectiveKind.BARRIER ? "(barrier)" : length(bytes),
                algorithm.label(),
                count(Math.round(hops.nanos())),
                count(cost.pieces()),
                count(cost.notices()),
                number(cost.nanos() / 1e6),
                whole ? "in full" : "extrapolated");
    }

    private static long ringPieces(int size, long bytes, CollectiveOptions options) {
        long ofBlock = Math.max(1, (bytes / size + options.slotBytes() - 1) / options.slotBytes());
        return 2 * ofBlock * size * (size - 1);
    }

    private static String length(long bytes) {
        if (bytes < 1 << 10) {
            return bytes + " B";
        }
        return bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
    }

    /// A ring of fewer ranks whose blocks and pieces are as long: every step of a rank is like the one before, so
    /// hops, pieces, notices and time grow by the same with each rank.
    private static Cost extrapolated(int size, long count, CollectiveOptions options, Network network)
            throws InterruptedException {
        long block = Math.ceilDiv(count, size);
        Cost one = Cost.ofRing(SMALL_RING, block, options, network);
        Cost two = Cost.ofRing(2 * SMALL_RING, block, options, network);
        double steps = (size - SMALL_RING) / (double) SMALL_RING;
        return new Cost(
                Math.round(one.pieces() + steps * (two.pieces() - one.pieces())),
                Math.round(one.notices() + steps * (two.notices() - one.notices())),
                one.nanos() + steps * (two.nanos() - one.nanos()));
    }

    /// The cost of one collective.
    ///
    /// @param pieces the most that a rank has sent
    /// @param notices the most that a rank has sent without a piece
    private record Cost(long pieces, long notices, double nanos) {
        static Cost of(
                int size, long count, CollectiveOptions options, CollectiveKind kind, Algorithm algorithm, Network on)
                throws InterruptedException {
            SimulatedMesh mesh = SimulatedMesh.withoutData(on, size, options);
            run(mesh, kind, algorithm, count);
            return new Cost(mesh.mostPieces(), mesh.mostNotices(), mesh.nanos());
        }

        static Cost ofRing(int size, long block, CollectiveOptions options, Network on) throws InterruptedException {
            return of(size, size * block, options, CollectiveKind.ALL_REDUCE, Algorithm.RING, on);
        }
    }

    private static void run(SimulatedMesh mesh, CollectiveKind kind, Algorithm algorithm, long count)
            throws InterruptedException {
        Elements numbers = Elements.of(new float[(int) count]);
        mesh.run(kind, algorithm, rank -> numbers, rank -> numbers, Reduction.SUM, 0);
    }
}
