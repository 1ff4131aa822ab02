package io.rdmacomm.mesh.launch;

/// The variables that srun sets. A batch script has some of them too, but not the nodes of a step.
public final class Slurm {
    private static final String NODES = "SLURM_STEP_NODELIST";

    private Slurm() {}

    /// Whether it has set its variables.
    public static boolean isPresent(Variables from) {
        return from.has("SLURM_PROCID") && from.has(NODES);
    }

    /// The meeting point of its nodes.
    ///
    /// @throws IllegalArgumentException if a variable is missing or wrong
    public static MeetingPoint meetingPoint(Variables from) {
        int size = from.size(from.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS");
        int rank = from.rank("SLURM_PROCID", size);
        String job = "Slurm " + from.text("SLURM_JOB_ID") + "." + from.textOr("SLURM_STEP_ID", "0");
        return MeetingPoint.of(rank, size, firstNode(from), DerivedPort.of(job)).withJob(job);
    }

    private static String firstNode(Variables from) {
        try {
            return firstNode(from.text(NODES));
        } catch (IllegalArgumentException e) {
            throw from.wrong(NODES, "which is not a list of nodes: " + e.getMessage());
        }
    }

    /// The first node of a compressed list: of `rack[2-3]node[07-10,12],login` it is `rack2node07`.
    static String firstNode(String list) {
        StringBuilder node = new StringBuilder();
        int at = 0;
        while (at < list.length() && list.charAt(at) != ',') {
            if (list.charAt(at) == '[') {
                int end = list.indexOf(']', at);
                if (end < 0) {
                    throw new IllegalArgumentException("a bracket is not closed");
                }
                node.append(firstNumber(list.substring(at + 1, end)));
                at = end + 1;
            } else {
                node.append(list.charAt(at++));
            }
        }
        if (node.isEmpty() || node.chars().anyMatch(c -> c <= ' ' || c == ']')) {
            throw new IllegalArgumentException("the first name is '" + node + "'");
        }
        return node.toString();
    }

    private static String firstNumber(String ranges) {
        int end = 0;
        while (end < ranges.length() && Character.isDigit(ranges.charAt(end))) {
            end++;
        }
        if (end == 0 || (end < ranges.length() && "-,".indexOf(ranges.charAt(end)) < 0)) {
            throw new IllegalArgumentException("'" + ranges + "' does not begin with a number");
        }
        return ranges.substring(0, end);
    }
}
