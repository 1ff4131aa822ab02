package io.rdmacomm.mesh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The environment variables of the launchers.
final class RendezvousTest {
    private static final Map<String, String> OPEN_MPI = Map.of(
            "OMPI_COMM_WORLD_RANK", "3",
            "OMPI_COMM_WORLD_SIZE", "4",
            "OMPI_COMM_WORLD_LOCAL_RANK", "1",
            "OMPI_MCA_orte_hnp_uri", "2766798848.0;tcp://127.0.0.1:48059",
            "PMIX_NAMESPACE", "2766798849");
    private static final Map<String, String> TORCHRUN = Map.of(
            "RANK", "1", "WORLD_SIZE", "2", "MASTER_ADDR", "node7", "MASTER_PORT", "29500", "TORCHELASTIC_RUN_ID", "r");
    private static final Map<String, String> SLURM = Map.of(
            "SLURM_PROCID", "2",
            "SLURM_NTASKS", "3",
            "SLURM_STEP_NODELIST", "node[07-9,12],x",
            "SLURM_JOB_ID", "41",
            "SLURM_STEP_ID", "1");
    private static final Map<String, String> KUBERNETES = Map.of(
            "JOB_COMPLETION_INDEX", "11",
            "HOSTNAME", "train-11",
            "RDMACOMM_SIZE", "12",
            "RDMACOMM_SERVICE", "nodes");

    private static Map<String, String> with(Map<String, String> variables, String name, String value) {
        Map<String, String> changed = new HashMap<>(variables);
        changed.put(name, value);
        return changed;
    }

    @SafeVarargs
    private static Map<String, String> together(Map<String, String>... parts) {
        Map<String, String> all = new HashMap<>();
        for (Map<String, String> part : parts) {
            all.putAll(part);
        }
        return all;
    }

    @Test
    void torchrunsNodesMeetAtThePortAfterThatOfItsStore() {
        Rendezvous rendezvous = Rendezvous.ofEnvironment(TORCHRUN);

        assertThat(rendezvous.rank()).isEqualTo(1);
        assertThat(rendezvous.size()).isEqualTo(2);
        assertThat(rendezvous.host()).isEqualTo("node7");
        assertThat(rendezvous.port()).isEqualTo(29501);
        assertThat(rendezvous.job()).isEqualTo("torchrun r/0");
        assertThat(rendezvous.point().isListener()).isFalse();
        assertThat(rendezvous.source()).isEqualTo("the variables of torchrun");
        assertThat(Rendezvous.ofEnvironment(with(TORCHRUN, "RANK", "0")).point().isListener())
                .isTrue();
    }

    @Test
    void slurmsNodesMeetOnTheFirstHostOfTheStepAtAPortOfTheJob() {
        Rendezvous rendezvous = Rendezvous.ofEnvironment(SLURM);

        assertThat(rendezvous.rank()).isEqualTo(2);
        assertThat(rendezvous.size()).isEqualTo(3);
        assertThat(rendezvous.host()).isEqualTo("node07");
        assertThat(rendezvous.port()).isBetween(10_000, 15_999);
        assertThat(rendezvous.job()).isEqualTo("Slurm 41.1");
        Rendezvous otherStep = Rendezvous.ofEnvironment(with(SLURM, "SLURM_STEP_ID", "2"));
        assertThat(otherStep.port()).isNotEqualTo(rendezvous.port());
        assertThat(Rendezvous.ofEnvironment(with(SLURM, "SLURM_PROCID", "0")).port())
                .isEqualTo(rendezvous.port());
    }

    @Test
    void aStepOfFewerTasksThanTheJobHasItsOwnSize() {
        assertThat(Rendezvous.ofEnvironment(with(with(SLURM, "SLURM_NTASKS", "8"), "SLURM_STEP_NUM_TASKS", "3"))
                        .size())
                .isEqualTo(3);
    }

    @Test
    void aBatchScriptOfSlurmIsNoTask() {
        Map<String, String> script = new HashMap<>(SLURM);
        script.remove("SLURM_STEP_NODELIST");
        assertThat(Launcher.present(script)).isEmpty();
    }

    @Test
    void kubernetesNodesMeetInThePodWithIndexZero() {
        Rendezvous rendezvous = Rendezvous.ofEnvironment(KUBERNETES);

        assertThat(rendezvous.rank()).isEqualTo(11);
        assertThat(rendezvous.size()).isEqualTo(12);
        assertThat(rendezvous.host()).isEqualTo("train-0.nodes");
        assertThat(rendezvous.port()).isEqualTo(Rendezvous.DEFAULT_PORT);
        assertThat(rendezvous.point().mayAppearLater()).isTrue();
        assertThat(Rendezvous.ofEnvironment(with(KUBERNETES, "RDMACOMM_PORT", "3000"))
                        .port())
                .isEqualTo(3000);
    }

    @Test
    void openMpisFirstNodeOnTheHostOfMpirunListens() {
        Map<String, String> first = with(OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_RANK", "0");

        Rendezvous rendezvous = Rendezvous.ofEnvironment(first);

        assertThat(rendezvous.rank()).isEqualTo(3);
        assertThat(rendezvous.size()).isEqualTo(4);
        assertThat(rendezvous.host()).isEqualTo("127.0.0.1");
        assertThat(rendezvous.point().isListener()).isTrue();
        assertThat(rendezvous.job()).isEqualTo("Open MPI 2766798849");
        assertThat(Rendezvous.ofEnvironment(OPEN_MPI).point().isListener()).isFalse();
        assertThat(Rendezvous.ofEnvironment(OPEN_MPI).port()).isEqualTo(rendezvous.port());
    }

    @Test
    void ofSeveralLaunchersTheFirstIsTakenAndTheOthersAreNamed() {
        Map<String, String> all = together(OPEN_MPI, TORCHRUN, SLURM, KUBERNETES);

        assertThat(Launcher.present(all)).containsExactly(Launcher.values());
        assertThat(Rendezvous.ofEnvironment(all).source())
                .isEqualTo("the variables of Open MPI, not those of torchrun, Slurm, Kubernetes");
        assertThat(Rendezvous.ofEnvironment(together(TORCHRUN, SLURM)).rank()).isEqualTo(1);
        Rendezvous chosen = Rendezvous.ofEnvironment(all, Launcher.SLURM);
        assertThat(chosen.rank()).isEqualTo(2);
        assertThat(chosen.source()).isEqualTo("the variables of Slurm, not those of Open MPI, torchrun, Kubernetes");
    }

    /// As in a shell that exports it for programs that compute their rank from Slurm's variables.
    @Test
    void anAddressAloneIsNotTorchrun() {
        Map<String, String> variables = together(SLURM, Map.of("MASTER_ADDR", "node7", "MASTER_PORT", "29500"));
        assertThat(Rendezvous.ofEnvironment(variables).source()).isEqualTo("the variables of Slurm");
    }

    @Test
    void anotherPlaceKeepsTheRank() {
        Rendezvous moved = Rendezvous.ofEnvironment(OPEN_MPI).at("login", 3000);

        assertThat(moved.rank()).isEqualTo(3);
        assertThat(moved.host()).isEqualTo("login");
        assertThat(moved.port()).isEqualTo(3000);
        assertThat(moved.point().isListener()).isFalse();
        assertThat(moved.source()).isEqualTo("the variables of Open MPI, at a given address");
    }

    @ParameterizedTest
    @CsvSource({
        "OMPI_COMM_WORLD_RANK, 4, must be a number from 0 to 3",
        "OMPI_COMM_WORLD_RANK, one, must be a number from 0 to 3",
        "OMPI_COMM_WORLD_SIZE, 0, must be a number from 1 to 512",
        "OMPI_COMM_WORLD_SIZE, '', is not set",
        "OMPI_COMM_WORLD_LOCAL_RANK, -1, must be a number from 0 to 3",
        "OMPI_MCA_orte_hnp_uri, x;y, which is not an address of mpirun",
        "OMPI_MCA_orte_hnp_uri, 1.0, which has no address of mpirun",
        "OMPI_MCA_orte_hnp_uri, 1.0;tcp://login:80, which is not an address of mpirun"
    })
    void wrongVariablesOfOpenMpiAreNamed(String name, String value, String words) {
        rejects(with(OPEN_MPI, name, value), name, value, words);
    }

    @ParameterizedTest
    @CsvSource({
        "RANK, 2, must be a number from 0 to 1",
        "WORLD_SIZE, 513, must be a number from 1 to 512",
        "MASTER_PORT, 65535, must be a number from 1 to 65534",
        "MASTER_PORT, '', is not set"
    })
    void wrongVariablesOfTorchrunAreNamed(String name, String value, String words) {
        rejects(with(TORCHRUN, name, value), name, value, words);
    }

    @ParameterizedTest
    @CsvSource({
        "SLURM_PROCID, 3, must be a number from 0 to 2",
        "SLURM_NTASKS, -1, must be a number from 1 to 512",
        "SLURM_STEP_NODELIST, node[1-3, which is not a list of nodes",
        "SLURM_STEP_NODELIST, 'node[a]', which is not a list of nodes",
        "SLURM_STEP_NODELIST, ',x', which is not a list of nodes",
        "SLURM_JOB_ID, '', is not set"
    })
    void wrongVariablesOfSlurmAreNamed(String name, String value, String words) {
        rejects(with(SLURM, name, value), name, value, words);
    }

    @ParameterizedTest
    @CsvSource({
        "JOB_COMPLETION_INDEX, 12, must be a number from 0 to 11",
        "RDMACOMM_SIZE, '', is not set",
        "RDMACOMM_SERVICE, '', is not set",
        "RDMACOMM_PORT, 0, must be a number from 1 to 65535",
        "HOSTNAME, train-1, must end with '-11'"
    })
    void wrongVariablesOfKubernetesAreNamed(String name, String value, String words) {
        rejects(with(KUBERNETES, name, value), name, value, words);
    }

    private static void rejects(Map<String, String> variables, String name, String value, String words) {
        assertThatThrownBy(() -> Rendezvous.ofEnvironment(variables))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(name, value, words)
                .message()
                .doesNotContain("\n");
    }

    @Test
    void withoutALauncherTheMessageSaysHowToStart() {
        assertThatThrownBy(() -> Rendezvous.ofEnvironment(Map.of("PATH", "/bin")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("mpirun", "srun", "torchrun");
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 2030", "-1, 2, 2030", "2, 2, 2030", "0, 513, 2030", "0, 2, 0", "0, 2, 65536"})
    void numbersOutOfRangeAreRejected(int rank, int size, int port) {
        assertThatThrownBy(() -> Rendezvous.of(rank, size, "localhost", port))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void allLaunchersHaveNames() {
        assertThat(List.of(Launcher.values()))
                .extracting(Launcher::toString)
                .containsExactly("Open MPI", "torchrun", "Slurm", "Kubernetes");
    }
}
