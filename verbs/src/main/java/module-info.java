/// The verbs: the vocabulary of libibverbs as Java types, shared by every provider.
@SuppressWarnings("module") // the modules that share what is qualified are compiled later
module io.rdmacomm.verbs {
    requires static org.jspecify;

    exports io.rdmacomm.verbs;
    exports io.rdmacomm.verbs.cm;
    exports io.rdmacomm.verbs.counters to
            io.rdmacomm.comm,
            io.rdmacomm.nio;
    exports io.rdmacomm.verbs.service to
            io.rdmacomm.comm,
            io.rdmacomm.ibverbs,
            io.rdmacomm.nio,
            io.rdmacomm.soft;
    exports io.rdmacomm.verbs.spi;
    exports io.rdmacomm.verbs.statistics;

    uses io.rdmacomm.verbs.spi.RdmaProvider;
}
