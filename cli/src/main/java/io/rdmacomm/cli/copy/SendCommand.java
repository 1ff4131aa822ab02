package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/// `rdmacomm send`: copies files into the directory of a receiver.
@Command(
        name = "send",
        description = "Copy files into the directory of `rdmacomm recv`, on another machine or on this one.",
        footer = {
            "",
            "Keeps names, permissions and modification times, and verifies a checksum. A file appears under its name"
                    + " only",
            "when it is complete. The exit code is 1 if a file could not be sent.",
            "As with cp(1), DIR goes into a directory DIR at the receiver, and DIR/. sends its content. Links that are",
            "named are followed; links in directories are left out.",
            "",
            "Examples:",
            "  rdmacomm recv --dir /data             on one machine, and on another:",
            "  rdmacomm send a.img b.img node7",
            "  rdmacomm send -r photos node7 --existing update   only what has changed, as with rsync(1)",
            "  rdmacomm send --resume a.img node7                again after an interruption: continues",
            "  rdmacomm send a.img node7 --transport tcp         the same over a plain socket, for comparison"
        })
public final class SendCommand extends Subcommand {
    private static final Duration CONNECT = Duration.ofSeconds(10);

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE... HOST[:PORT]",
            hideParamSyntax = true,
            description = "The files, and where `rdmacomm recv` runs.")
    private List<String> words = new ArrayList<>();

    @Option(
            names = {"-r", "--recursive"},
            description = "Send directories with their content.")
    private boolean recursive;

    @Option(
            names = "--resume",
            description = "If the connection breaks, let the receiver keep an incomplete file for 7 days; continue one"
                    + " of an earlier `send --resume`.")
    private boolean resume;

    @Option(
            names = "--chunk",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = "1M",
            description = "The most bytes per transfer, 1 to 1M (default: ${DEFAULT-VALUE}).")
    private long chunk;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "16",
            description = "The most chunks in flight, 1 to 64 (default: ${DEFAULT-VALUE}).")
    private int depth;

    @Mixin
    private final CopyOptions copy = new CopyOptions();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException {
        if (words.size() < 2) {
            throw usage("FILE... HOST: name at least one file, and the machine where `rdmacomm recv` runs");
        }
        RingSize ring = ring();
        CopyOptions.Transport transport = copy.transport();
        PeerAddress address = address(words.getLast());
        json.check();
        Existing wish = copy.existing();
        SourceTree files = new SourceTree(
                words.subList(0, words.size() - 1), recursive, wish == null ? Existing.OVERWRITE : wish, resume);
        try (CopyReport report = new CopyReport(output(), json.ownsStandardOutput(), isVerbose(), json.requested())) {
            switch (transport) {
                case RDMA -> sendOverRdma(files, address, ring, report);
                case TCP -> sendOverTcp(files, address, ring, report);
            }
            report.summarize(copy.label());
            json.write("", copy.device(), report.toMap(copy.label()), output());
            return report.failed() == 0 ? 0 : 1;
        } catch (SetupFailedException e) {
            throw e.reason() == SetupFailedException.Reason.PROTOCOL_VIOLATED
                    ? new CommandFailure(e.getMessage() + "; use the same --transport on both sides", e)
                    : e;
        }
    }

    private RingSize ring() {
        try {
            return new RingSize(Math.clamp(chunk, 0, Integer.MAX_VALUE), depth);
        } catch (CommandFailure e) {
            throw usage("--chunk and --depth: " + e.getMessage());
        }
    }

    private PeerAddress address(String text) {
        try {
            return PeerAddress.parse(text);
        } catch (TypeConversionException e) {
            throw usage(e.getMessage() + "; the last argument is the receiver");
        }
    }

    private void sendOverRdma(SourceTree files, PeerAddress address, RingSize ring, CopyReport report) {
        SessionOptions options = copy.session("send").withAddress(address.host(), address.port());
        try (ClientSession session = ClientSession.connect(options);
                RdmaSenderLink link = new RdmaSenderLink(session, session.endPoint(), ring)) {
            files.sendOver(link, report);
        }
    }

    private static void sendOverTcp(SourceTree files, PeerAddress address, RingSize ring, CopyReport report)
            throws IOException {
        try (TcpLink link = TcpLink.connect(address.host(), address.port(), ring, CONNECT)) {
            files.sendOver(link, report);
        }
    }
}
