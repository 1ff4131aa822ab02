package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.FileName;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.Range;
import io.rdmacomm.cli.command.Subcommand;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `rdmacomm recv`: receives files from senders.
@Command(
        name = "recv",
        description = "Receive the files that `rdmacomm send` sends, into a directory.",
        footer = {
            "",
            "Nothing is written outside of the directory. Files appear under their names when they are complete; what"
                    + " a",
            "receiver leaves when it is killed is removed when the next one starts, unless `send --resume` can"
                    + " continue",
            "it. Permissions are those of the original, reduced by the umask.",
            "",
            "Examples:",
            "  rdmacomm recv --dir /data --once",
            "  rdmacomm recv --dir /data --existing skip         no sender replaces a file",
            "  rdmacomm recv --dir /data --rdma-cm-port 2021     behind a firewall or forward for ports 2020 and 2021"
        })
public final class RecvCommand extends Subcommand {
    @Option(names = "--dir", paramLabel = "DIR", required = true, description = "The directory to receive files into.")
    private String directory = "";

    @Option(names = "--once", description = "Exit after the first sender, with exit code 1 if one of its files failed.")
    private boolean once;

    @Option(
            names = "--hidden",
            description = "Accept names that begin with a dot, such as .git and .bashrc, which are rejected otherwise.")
    private boolean hidden;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = "256M",
            description = "The memory for the data of all senders together; each gets at most 16M"
                    + " (default: ${DEFAULT-VALUE}).")
    @Range(min = 1 << 20)
    private long memory;

    @Mixin
    private final CopyOptions copy = new CopyOptions();

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Override
    public Integer call() throws IOException {
        CopyOptions.Transport transport = copy.transport();
        if (directory.isEmpty()) {
            throw usage("--dir is empty: name a directory, or . for the current one");
        }
        try (IncomingFolder incoming = new IncomingFolder(FileName.path(directory), hidden, copy.existing());
                CopyServer server = open(transport, incoming);
                CloseOnExit _ = new CloseOnExit(server::close, incoming::close)) {
            output().println(server.line());
            return server.run(once) == 0 ? 0 : 1;
        }
    }

    private CopyServer open(CopyOptions.Transport transport, IncomingFolder incoming) {
        CopyService service = new CopyService(incoming, new CopyMemory(memory), output(), isVerbose(), copy.label());
        return switch (transport) {
            case RDMA -> new RdmaCopyServer(listen, copy, service);
            case TCP -> new TcpCopyServer(listen, service);
        };
    }
}
