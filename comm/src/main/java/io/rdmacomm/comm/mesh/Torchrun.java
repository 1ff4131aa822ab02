package io.rdmacomm.comm.mesh;

/// The variables of torchrun.
final class Torchrun {
    private Torchrun() {}

    static boolean isPresent(Variables from) {
        return from.has("RANK") && from.has("WORLD_SIZE") && from.has("MASTER_ADDR");
    }

    static Rendezvous rendezvous(Variables from) {
        int size = from.size("WORLD_SIZE");
        int rank = from.rank("RANK", size);
        // The store of torchrun listens on MASTER_PORT.
        int port = from.number("MASTER_PORT", 1, 65534) + 1;
        String job = from.textOr("TORCHELASTIC_RUN_ID", "") + "/" + from.textOr("TORCHELASTIC_RESTART_COUNT", "0");
        return Rendezvous.of(rank, size, from.text("MASTER_ADDR"), port).withJob("torchrun " + job);
    }
}
