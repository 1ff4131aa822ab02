package io.rdmacomm.cli;

import io.rdmacomm.cli.copy.IncomingFolder;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `rdmacomm recv`: takes files from senders.
@Command(
        name = "recv",
        description = "Receive the files that `rdmacomm send` sends into a folder.",
        footer = {
            "",
            "Nothing is written outside of the folder, and nothing half-written stays in it.",
            "",
            "Examples:",
            "  rdmacomm recv --dir /data --once",
            "  rdmacomm recv --dir /data --rdma-cm-port 2021     behind a firewall or forward for ports 2020 and 2021"
        })
final class RecvCommand extends Subcommand {
    /// What needs one port only.
    static final String OVER_TCP = "--transport tcp, which needs one port only";

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    @Option(names = "--dir", paramLabel = "DIR", required = true, description = "The folder that files go into.")
    private Path folder = Path.of("");

    @Option(names = "--once", description = "End after the first sender; exit code 1 when a file of it failed.")
    private boolean once;

    @Option(
            names = "--transport",
            paramLabel = "rdma|tcp",
            defaultValue = "RDMA",
            description = "What the data travels over; both sides must say the same (default: rdma).")
    private TransportKind transport = TransportKind.RDMA;

    @Override
    public Integer call() throws IOException {
        if (transport == TransportKind.TCP) {
            device.refuseConnectionPort(OVER_TCP);
        }
        try (IncomingFolder incoming = new IncomingFolder(folder);
                CopyServer server = open(incoming);
                CloseOnExit _ = new CloseOnExit(server::close, incoming::close)) {
            out().println("listening on port " + server.port());
            out().flush();
            return server.run(once) == 0 ? 0 : 1;
        }
    }

    private CopyServer open(IncomingFolder incoming) throws IOException {
        return switch (transport) {
            case RDMA -> new RdmaCopyServer(listen, device, incoming, out(), err());
            case TCP -> new TcpCopyServer(listen, incoming, out(), err());
        };
    }
}
