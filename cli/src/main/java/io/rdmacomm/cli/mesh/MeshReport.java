package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CountText;
import io.rdmacomm.cli.command.DeviceLine;
import io.rdmacomm.cli.command.Rounding;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Rendezvous;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/// The measurements of all nodes, for people and machines.
///
/// @param rendezvous how the nodes met
/// @param settings what they did
/// @param setupNanos how long it took rank 0 to start the nodes of this machine and to join the mesh
/// @param device the device of rank 0
/// @param nodes the results by rank
record MeshReport(
        Rendezvous rendezvous, MeshSettings settings, long setupNanos, DeviceLine device, List<NodeResult> nodes) {
    private static final int MOST_IN_DETAIL = 8;
    private static final String ROW = "%5s %5s %10s %10s %10s %10s %10s";

    /// Copies the list.
    MeshReport {
        nodes = List.copyOf(nodes);
    }

    /// The report of a run that has ended.
    static MeshReport of(Rendezvous rendezvous, MeshSettings settings, Mesh mesh, List<NodeResult> nodes) {
        return new MeshReport(rendezvous, settings, 0, DeviceLine.of(mesh.session()), nodes);
    }

    /// The same report with another time to join the mesh.
    MeshReport withSetupNanos(long nanos) {
        return new MeshReport(rendezvous, settings, nanos, device, nodes);
    }

    private long bytes() {
        return nodes.stream().mapToLong(NodeResult::bytes).sum();
    }

    /// All bytes written, divided by the time of the slowest node.
    private double gbps() {
        return PeerResult.gbps(
                bytes(), nodes.stream().mapToLong(NodeResult::nanos).max().orElse(0));
    }

    private Latencies latencies() {
        Histogram all = Latencies.newHistogram();
        nodes.forEach(node -> all.add(node.latencies()));
        return Latencies.of(all);
    }

    private long iterations() {
        return nodes.getFirst().iterations();
    }

    /// The lines for people: a row for each pair of nodes, or for each node if there are many.
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        int size = rendezvous.size();
        lines.add("in each iteration, each node writes %d blocks of %s to each other node, %d times"
                .formatted(settings.depth(), ByteSize.format(settings.blockBytes()), settings.passes()));
        lines.add(ROW.formatted("from", "to", "Gbit/s", "p50 [us]", "p99 [us]", "p99.9 [us]", "max [us]"));
        for (NodeResult node : nodes) {
            if (size <= MOST_IN_DETAIL) {
                node.peers().forEach(peer -> lines.add(row(node.rank(), peer.to(), peer.gbps(), peer.latencies())));
            } else {
                double gbps = PeerResult.gbps(node.bytes(), node.nanos());
                lines.add(row(node.rank(), "all", gbps, Latencies.of(node.latencies())));
            }
        }
        lines.add(row("all", "all", gbps(), latencies()));
        lines.add("%s, %s written; every block was checked where it arrived"
                .formatted(CountText.of(iterations(), "iteration"), ByteSize.format(bytes())));
        return lines;
    }

    private static String row(Object from, Object to, double gbps, Latencies latencies) {
        return ROW.formatted(
                from,
                to,
                "%.2f".formatted(gbps),
                micros(latencies.p50()),
                micros(latencies.p99()),
                micros(latencies.p999()),
                micros(latencies.max()));
    }

    private static String micros(long nanos) {
        return "%.2f".formatted(nanos / 1e3);
    }

    /// The members of the JSON document, except for `schema` and `environment`.
    Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        device.addTo(members);
        members.put("nodes", rendezvous.size());
        members.put("source", rendezvous.source());
        members.put("set_up_seconds", Rounding.to(setupNanos / 1e9, 3));
        members.put("depth", settings.depth());
        members.put("passes", settings.passes());
        members.put("block_bytes", settings.blockBytes());
        members.put("channels", settings.channels());
        members.put("iterations", iterations());
        members.put("bytes", bytes());
        members.put("gbps", Rounding.to(gbps(), 3));
        latencies().addTo(members);
        members.put("data_verified", true);
        List<Map<String, Object>> pairs = new ArrayList<>();
        nodes.forEach(node -> node.peers().forEach(peer -> pairs.add(peer.toMap(node.rank()))));
        members.put("pairs", pairs);
        return members;
    }
}
