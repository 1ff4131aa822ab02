package io.rdmacomm.mesh;

import io.rdmacomm.mesh.launch.Kubernetes;
import io.rdmacomm.mesh.launch.MeetingPoint;
import io.rdmacomm.mesh.launch.OpenMpi;
import io.rdmacomm.mesh.launch.Slurm;
import io.rdmacomm.mesh.launch.Torchrun;
import io.rdmacomm.mesh.launch.Variables;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// The launchers whose environment variables [Rendezvous#ofEnvironment()] understands. If several have set theirs,
/// for example when `torchrun` runs in a Slurm job, the first one in this order is used.
public enum Launcher {
    /// `mpirun` of Open MPI 4: OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK,
    /// OMPI_MCA_orte_hnp_uri, OMPI_MCA_orte_local_daemon_uri. The nodes meet on the host of `mpirun`, where at
    /// least one of them has to run, at a port that depends on the job.
    OPEN_MPI("Open MPI"),
    /// `torchrun`, and others that follow it: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT. The nodes meet at
    /// MASTER_ADDR, at the port after MASTER_PORT, which torchrun uses itself.
    TORCHRUN("torchrun"),
    /// `srun` of Slurm: SLURM_PROCID, SLURM_NTASKS, SLURM_STEP_NODELIST, SLURM_JOB_ID, SLURM_STEP_ID. The nodes
    /// meet on the first host of the step, at a port that depends on the job and the step.
    SLURM("Slurm"),
    /// An indexed job of Kubernetes: JOB_COMPLETION_INDEX and HOSTNAME, which Kubernetes sets; and the job has to
    /// set RDMACOMM_SIZE, the number of pods, and RDMACOMM_SERVICE, the name of their headless service. The nodes
    /// meet in the pod with index 0, at the port RDMACOMM_PORT if it is set, else [Rendezvous#DEFAULT_PORT].
    KUBERNETES("Kubernetes");

    private final String words;

    Launcher(String words) {
        this.words = words;
    }

    /// The launchers that have set their variables, preferred ones first.
    public static List<Launcher> present(Map<String, String> environment) {
        Variables variables = new Variables(environment);
        return Arrays.stream(values())
                .filter(launcher -> launcher.isPresent(variables))
                .toList();
    }

    private boolean isPresent(Variables variables) {
        return switch (this) {
            case OPEN_MPI -> OpenMpi.isPresent(variables);
            case TORCHRUN -> Torchrun.isPresent(variables);
            case SLURM -> Slurm.isPresent(variables);
            case KUBERNETES -> Kubernetes.isPresent(variables);
        };
    }

    MeetingPoint read(Map<String, String> environment) {
        Variables variables = new Variables(environment);
        return switch (this) {
            case OPEN_MPI -> OpenMpi.meetingPoint(variables);
            case TORCHRUN -> Torchrun.meetingPoint(variables);
            case SLURM -> Slurm.meetingPoint(variables);
            case KUBERNETES -> Kubernetes.meetingPoint(variables);
        };
    }

    /// Its name, as shown to users.
    @Override
    public String toString() {
        return words;
    }
}
