package io.rdmacomm.mesh.launch;

/// The variables of an indexed job, whose pods are named after the job and their index.
public final class Kubernetes {
    private static final String PORT = "RDMACOMM_PORT";

    private Kubernetes() {}

    /// Whether it has set its variables.
    public static boolean isPresent(Variables from) {
        return from.has("JOB_COMPLETION_INDEX");
    }

    /// The meeting point of its nodes.
    ///
    /// @throws IllegalArgumentException if a variable is missing or wrong
    public static MeetingPoint meetingPoint(Variables from) {
        int size = from.size("RDMACOMM_SIZE");
        int rank = from.rank("JOB_COMPLETION_INDEX", size);
        String pod = from.text("HOSTNAME");
        String ending = "-" + rank;
        if (!pod.endsWith(ending)) {
            throw from.wrong("HOSTNAME", "must end with '" + ending + "', as the pods of an indexed job do");
        }
        String job = pod.substring(0, pod.length() - ending.length());
        String first = job + "-0." + from.text("RDMACOMM_SERVICE");
        int port = from.has(PORT) ? from.number(PORT, 1, 65535) : MeetingPoint.DEFAULT_PORT;
        // The name exists as soon as that pod runs, which may be later.
        return MeetingPoint.of(rank, size, first, port)
                .withJob("Kubernetes " + job)
                .withLaterName();
    }
}
