package io.rdmacomm.ibverbs.drivers;

import io.rdmacomm.ibverbs.objects.KernelDriver;

/// libhns as of rdma-core 64. ibv_poll_cq(3) copies a short message from its completion, or from the receive
/// queue, to the address in the request (`handle_recv_inl_data`).
public final class HnsDriver extends KernelDriver {
    /// A driver for one open device.
    public HnsDriver() {
        super(true);
    }

    @Override
    protected String whyNoArrivalsAtOffsets() {
        return "hns copies short messages to the addresses in the requests; use memory at its own addresses";
    }
}
