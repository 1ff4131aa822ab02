/// The provider for real RDMA devices, over libibverbs. Exports nothing; found as a service.
module io.rdmacomm.ibverbs {
    requires static org.jspecify;
    requires io.rdmacomm.verbs;

    provides io.rdmacomm.verbs.spi.RdmaProvider with
            io.rdmacomm.ibverbs.IbvProvider;
}
