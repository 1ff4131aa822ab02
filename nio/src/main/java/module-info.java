/// Sockets of `java.nio` over RDMA: for programs that know nothing of it.
module io.rdmacomm.nio {
    requires static org.jspecify;
    requires transitive io.rdmacomm.verbs;
    requires transitive java.instrument;
    requires jdk.jfr;
    requires jdk.net;

    exports io.rdmacomm.nio;
}
