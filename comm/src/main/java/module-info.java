/// Sessions, endpoints, channels and named buffers on top of the verbs.
module io.rdmacomm.comm {
    requires static org.jspecify;
    requires transitive io.rdmacomm.verbs;
    requires jdk.jfr;
    requires jdk.net;
    requires static java.management;

    exports io.rdmacomm.comm;
    exports io.rdmacomm.comm.exchange;
    exports io.rdmacomm.comm.statistics;
}
