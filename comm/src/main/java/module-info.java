/// Sessions, endpoints, channels and named buffers on top of the verbs.
module io.rdmacomm.comm {
    requires transitive io.rdmacomm.verbs;
    requires jdk.jfr;

    exports io.rdmacomm.comm;
    exports io.rdmacomm.comm.mesh;
}
