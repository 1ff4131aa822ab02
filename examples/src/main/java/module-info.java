/// Small complete programs.
module io.rdmacomm.examples {
    requires static org.jspecify;
    requires io.rdmacomm.mesh;

    exports io.rdmacomm.examples;
}
