/// Meshes of N nodes, each connected with all others, and their collectives. It uses only what every program can use.
module io.rdmacomm.mesh {
    requires static org.jspecify;
    requires transitive io.rdmacomm.comm;
    requires jdk.jfr;

    exports io.rdmacomm.mesh;
    exports io.rdmacomm.mesh.collective;
}
