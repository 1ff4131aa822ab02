package io.rdmacomm.mesh.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The host on which the nodes of a launcher meet.
final class LaunchersTest {
    /// The variables of the first node on its host.
    private static final Map<String, String> FIRST = Map.of(
            "OMPI_COMM_WORLD_RANK", "3",
            "OMPI_COMM_WORLD_SIZE", "4",
            "OMPI_COMM_WORLD_LOCAL_RANK", "0",
            "OMPI_MCA_orte_hnp_uri", "2766798848.0;tcp://127.0.0.1:48059",
            "PMIX_NAMESPACE", "2766798849");

    private static Map<String, String> with(Map<String, String> variables, String name, String value) {
        Map<String, String> changed = new HashMap<>(variables);
        changed.put(name, value);
        return changed;
    }

    /// 172.17.0.1 is the address of a bridge that every host with containers has.
    @Test
    void openMpisOtherHostsDoNotTakeASharedAddressForTheirOwn() {
        String uri = "\"2766798848.0;tcp://10.0.0.1,172.17.0.1:48059;tcp6://[fd00::1]:48060\"";
        Map<String, String> first = with(FIRST, "OMPI_MCA_orte_hnp_uri", uri);
        InetAddress bridge = InetAddress.ofLiteral("172.17.0.1");

        MeetingPoint far = OpenMpi.meetingPoint(new Variables(first), bridge::equals);
        MeetingPoint near = OpenMpi.meetingPoint(new Variables(first), _ -> true);

        assertThat(far.isListener()).isFalse();
        assertThat(far.hosts()).containsExactly("10.0.0.1", "fd00:0:0:0:0:0:0:1");
        assertThat(near.isListener()).isTrue();
        assertThat(near.hosts()).containsExactly("10.0.0.1", "172.17.0.1", "fd00:0:0:0:0:0:0:1", "localhost");
        assertThat(near.port()).isEqualTo(far.port());
    }

    /// An address of mpirun's host may come and go, the daemon does not change.
    @Test
    void openMpisNodesOnTheHostOfMpirunHaveItAsTheirDaemon() {
        String mpirun = FIRST.get("OMPI_MCA_orte_hnp_uri");

        MeetingPoint near =
                OpenMpi.meetingPoint(new Variables(with(FIRST, "OMPI_MCA_orte_local_daemon_uri", mpirun)), _ -> false);
        MeetingPoint far = OpenMpi.meetingPoint(
                new Variables(with(FIRST, "OMPI_MCA_orte_local_daemon_uri", "2766798848.1;tcp://10.0.0.2:1")),
                _ -> false);

        assertThat(near.isListener()).isTrue();
        assertThat(near.hosts()).containsExactly("localhost");
        assertThat(far.isListener()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "node1|node1",
                "node[1-3,07],x|node1",
                "node[007-9]|node007",
                "rack[2-3]node[07-10,12],login|rack2node07",
                "n[3]-ib.cluster|n3-ib.cluster",
                "login,node[1-3]|login"
            })
    void theFirstNodeOfACompressedList(String list, String first) {
        assertThat(Slurm.firstNode(list)).isEqualTo(first);
    }
}
