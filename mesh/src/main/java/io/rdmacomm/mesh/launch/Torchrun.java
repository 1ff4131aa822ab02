package io.rdmacomm.mesh.launch;

/// The variables of torchrun.
public final class Torchrun {
    private Torchrun() {}

    /// Whether it has set its variables.
    public static boolean isPresent(Variables from) {
        return from.has("RANK") && from.has("WORLD_SIZE") && from.has("MASTER_ADDR");
    }

    /// The meeting point of its nodes.
    ///
    /// @throws IllegalArgumentException if a variable is missing or wrong
    public static MeetingPoint meetingPoint(Variables from) {
        int size = from.size("WORLD_SIZE");
        int rank = from.rank("RANK", size);
        // The store of torchrun listens on MASTER_PORT.
        int port = from.number("MASTER_PORT", 1, 65534) + 1;
        String job = from.textOr("TORCHELASTIC_RUN_ID", "") + "/" + from.textOr("TORCHELASTIC_RESTART_COUNT", "0");
        return MeetingPoint.of(rank, size, from.text("MASTER_ADDR"), port).withJob("torchrun " + job);
    }
}
