/// The verbs: the vocabulary of libibverbs as Java types, shared by every provider.
module io.rdmacomm.verbs {
    requires static transitive org.jspecify;

    exports io.rdmacomm.verbs;
    exports io.rdmacomm.verbs.cm;
    exports io.rdmacomm.verbs.spi;

    uses io.rdmacomm.verbs.spi.RdmaProvider;
}
