/// The command `rdmacomm`, and small example programs on the public API.
@SuppressWarnings("requires-automatic") // HdrHistogram has no module name of its own
module io.rdmacomm.cli {
    requires static org.jspecify;
    requires com.fasterxml.jackson.jr.ob;
    requires HdrHistogram;
    requires transitive info.picocli;
    requires io.rdmacomm.comm;
    requires io.rdmacomm.verbs;
    requires java.logging;
    requires java.management;
    requires jdk.management;
    requires org.jline.terminal;

    exports io.rdmacomm.cli;
    exports io.rdmacomm.examples;

    opens io.rdmacomm.cli to
            info.picocli;
}
