package io.rdmacomm.cli;

import io.rdmacomm.cli.copy.IncomingFolder;
import io.rdmacomm.cli.terminal.CloseOnExit;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `rdmacomm recv`: receives files from senders.
@Command(
        name = "recv",
        description = "Receive the files that `rdmacomm send` sends, into a directory.",
        footer = {
            "",
            "Nothing is written outside of the directory, and no incomplete file stays in it.",
            "",
            "Examples:",
            "  rdmacomm recv --dir /data --once",
            "  rdmacomm recv --dir /data --rdma-cm-port 2021     behind a firewall or forward for ports 2020 and 2021"
        })
final class RecvCommand extends Subcommand {
    @Option(names = "--dir", paramLabel = "DIR", required = true, description = "The directory to receive files into.")
    private Path directory = Path.of("");

    @Option(names = "--once", description = "Exit after the first sender, with exit code 1 if one of its files failed.")
    private boolean once;

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    @Mixin
    private final ModeOptions modes = new ModeOptions();

    @Override
    public Integer call() throws IOException {
        TransportOption.Transport checked = transport.checked(device, modes);
        try (IncomingFolder incoming = new IncomingFolder(directory);
                CopyServer server = open(checked, incoming);
                CloseOnExit _ = new CloseOnExit(server::close, incoming::close)) {
            output().println("listening on port " + server.port());
            return server.run(once) == 0 ? 0 : 1;
        }
    }

    private CopyServer open(TransportOption.Transport checked, IncomingFolder incoming) throws IOException {
        return switch (checked) {
            case RDMA -> new RdmaCopyServer(listen, device, modes, incoming, output());
            case TCP -> new TcpCopyServer(listen, incoming, output());
        };
    }
}
