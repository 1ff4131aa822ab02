package io.rdmacomm.ibverbs.drivers;

import io.rdmacomm.ibverbs.objects.KernelDriver;
import org.jspecify.annotations.Nullable;

/// libmlx5 as of rdma-core 64. The adapter puts a short message, or the answer to a READ of a queue pair that
/// signals all requests, into its completion; ibv_poll_cq(3) copies it to the address in the request
/// (`copy_to_scat`). According to mlx5dv_create_qp(3), this must be turned off for memory whose addresses are not
/// those of this process.
public final class Mlx5Driver extends KernelDriver {
    /// The environment variable that turns this off for all queue pairs of a program (`use_scatter_to_cqe`).
    public static final String SCATTER = "MLX5_SCATTER_TO_CQE";

    private final boolean copies;

    /// A driver for one open device.
    ///
    /// @param scatter the value of [#SCATTER]; null if there is none
    public Mlx5Driver(@Nullable String scatter) {
        super(true);
        this.copies = !"0".equals(scatter);
    }

    @Override
    protected String whyNoArrivalsAtOffsets() {
        return copies
                ? "mlx5 copies short messages to the addresses in the requests; start the program with " + SCATTER
                        + "=0 in its environment, which turns that off"
                : "";
    }
}
