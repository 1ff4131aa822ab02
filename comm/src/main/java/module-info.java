/// Sessions, endpoints, channels and named buffers on top of the verbs.
@SuppressWarnings("module") // cli, which uses the setup, is compiled later
module io.rdmacomm.comm {
    requires static org.jspecify;
    requires transitive io.rdmacomm.verbs;
    requires jdk.jfr;
    requires jdk.net;
    requires static java.management;

    exports io.rdmacomm.comm;
    exports io.rdmacomm.comm.mesh;
    exports io.rdmacomm.comm.mesh.collective;
    exports io.rdmacomm.comm.setup to
            io.rdmacomm.cli;
    exports io.rdmacomm.comm.statistics;
}
