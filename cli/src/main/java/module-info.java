/// The command `rdmacomm`, which exports nothing, and small example programs on the public API.
@SuppressWarnings("requires-automatic") // HdrHistogram has no module name of its own
module io.rdmacomm.cli {
    requires static org.jspecify;
    requires com.fasterxml.jackson.jr.ob;
    requires HdrHistogram;
    requires info.picocli;
    requires io.rdmacomm.comm;
    requires io.rdmacomm.mesh;
    requires io.rdmacomm.nio;
    requires io.rdmacomm.verbs;
    requires java.logging;
    requires java.management;
    requires jdk.management;
    requires org.jline.terminal;

    exports io.rdmacomm.cli.command to
            java.logging; // which makes the log settings

    opens io.rdmacomm.cli to
            info.picocli;
    opens io.rdmacomm.cli.bench to
            info.picocli;
    opens io.rdmacomm.cli.command to
            info.picocli;
    opens io.rdmacomm.cli.copy to
            info.picocli;
    opens io.rdmacomm.cli.devices to
            info.picocli;
    opens io.rdmacomm.cli.doctor to
            info.picocli;
    opens io.rdmacomm.cli.interop to
            info.picocli;
    opens io.rdmacomm.cli.mesh to
            info.picocli;
    opens io.rdmacomm.cli.run to
            info.picocli;
}
