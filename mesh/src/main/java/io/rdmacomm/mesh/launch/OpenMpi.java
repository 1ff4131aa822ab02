package io.rdmacomm.mesh.launch;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/// The variables of Open MPI. None of them says where rank 0 is, but all nodes know the addresses of mpirun's
/// host, so the first node there listens, whatever its rank.
public final class OpenMpi {
    private static final String MPIRUN = "OMPI_MCA_orte_hnp_uri";
    private static final String DAEMON = "OMPI_MCA_orte_local_daemon_uri";
    private static final String LOOPBACK = "localhost";
    private static final String RANK = "OMPI_COMM_WORLD_RANK";

    private OpenMpi() {}

    /// Whether it has set its variables.
    public static boolean isPresent(Variables from) {
        return from.has(RANK);
    }

    /// The meeting point of its nodes.
    ///
    /// @throws IllegalArgumentException if a variable is missing or wrong
    public static MeetingPoint meetingPoint(Variables from) {
        return meetingPoint(from, LocalHosts::isLocal);
    }

    /// @param local whether an address is one of this host
    static MeetingPoint meetingPoint(Variables from, Predicate<InetAddress> local) {
        int size = from.size("OMPI_COMM_WORLD_SIZE");
        int rank = from.rank(RANK, size);
        boolean first = from.number("OMPI_COMM_WORLD_LOCAL_RANK", 0, size - 1) == 0;
        String uri = from.text(MPIRUN);
        List<InetAddress> addresses = addresses(from, uri.replace("\"", ""));
        boolean here = isHere(from, addresses, local);
        List<String> hosts = new ArrayList<>();
        // An address of every host, such as that of a bridge for containers, leads others to themselves.
        addresses.stream()
                .filter(address -> here == local.test(address))
                .forEach(address -> hosts.add(address.getHostAddress()));
        if (here) {
            hosts.add(LOOPBACK);
        } else if (hosts.isEmpty()) {
            throw from.wrong(MPIRUN, "whose addresses are all those of this host, but mpirun runs on another one");
        }
        String job = "Open MPI " + from.textOr("PMIX_NAMESPACE", uri.replaceFirst(";.*", ""));
        return MeetingPoint.of(rank, size, hosts.getFirst(), DerivedPort.of(job))
                .withJob(job)
                .withHosts(hosts, here && first);
    }

    /// Whether mpirun runs on this host: then it is the daemon of its nodes.
    private static boolean isHere(Variables from, List<InetAddress> addresses, Predicate<InetAddress> local) {
        return from.has(DAEMON)
                ? from.text(DAEMON).equals(from.text(MPIRUN))
                : addresses.stream().allMatch(local);
    }

    /// The addresses in `2766798848.0;tcp://10.0.0.1,172.17.0.1:48059;tcp6://[fd00::1]:48060`.
    private static List<InetAddress> addresses(Variables from, String uri) {
        List<InetAddress> addresses = new ArrayList<>();
        String[] parts = uri.split(";", -1);
        try {
            for (int i = 1; i < parts.length; i++) {
                String list = parts[i].substring(parts[i].indexOf("//") + 2, parts[i].lastIndexOf(':'));
                for (String address : list.replace("[", "").replace("]", "").split(",", -1)) {
                    addresses.add(InetAddress.ofLiteral(address));
                }
            }
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw from.wrong(MPIRUN, "which is not an address of mpirun; give the rendezvous yourself");
        }
        if (addresses.isEmpty()) {
            throw from.wrong(MPIRUN, "which has no address of mpirun; give the rendezvous yourself");
        }
        return addresses;
    }
}
