package io.rdmacomm.cli;

import io.rdmacomm.cli.copy.FileSender;
import io.rdmacomm.cli.copy.RdmaSenderLink;
import io.rdmacomm.cli.copy.RingSize;
import io.rdmacomm.cli.copy.SenderLink;
import io.rdmacomm.cli.copy.TcpLink;
import io.rdmacomm.cli.terminal.ByteSize;
import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.FrameCodec;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/// `rdmacomm send`: copies files into the folder of a receiver.
@Command(
        name = "send",
        description = "Copy files into the folder of `rdmacomm recv` on another machine, or on this one.",
        footer = {
            "",
            "Names, sizes, permissions and times are kept, and a checksum is compared at the end. A file appears under",
            "its name only when it is complete. Exit code 1 when a file could not be sent.",
            "",
            "Examples:",
            "  rdmacomm recv --dir /data             on one machine, and on another one:",
            "  rdmacomm send a.img b.img node7",
            "  rdmacomm send a.img node7 --transport tcp      the same over a plain socket, for comparison"
        })
final class SendCommand extends Subcommand {
    private static final int CONNECT_MILLIS = 10_000;

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Parameters(
            arity = "2..*",
            paramLabel = "FILE... HOST[:PORT]",
            hideParamSyntax = true,
            description = "The files, and where `rdmacomm recv` runs.")
    private List<String> words = new ArrayList<>();

    @Option(
            names = "--transport",
            paramLabel = "rdma|tcp",
            defaultValue = "RDMA",
            description = "What the data travels over; both sides must say the same (default: rdma).")
    private TransportKind transport = TransportKind.RDMA;

    @Option(
            names = "--chunk",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = "1M",
            description = "How much is sent at a time (default: ${DEFAULT-VALUE}).")
    private long chunk = 1 << 20;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "16",
            description = "How many chunks are on their way at a time (default: ${DEFAULT-VALUE}).")
    private int depth;

    @Override
    public Integer call() throws IOException {
        if (chunk < 1 || chunk > 64 << 20 || depth < 1 || depth > 1024 || chunk * depth > 1L << 30) {
            throw usage("--chunk can be 1 to 64M, --depth 1 to 1024, and together at most 1g");
        }
        if (transport == TransportKind.TCP) {
            device.refuseConnectionPort(RecvCommand.OVER_TCP);
        }
        List<Path> files =
                words.subList(0, words.size() - 1).stream().map(Path::of).toList();
        PeerAddress address = address(words.getLast());
        json.check();
        CopyReport report;
        String how = transport.name().toLowerCase(Locale.ROOT);
        try (CopyReport progress = new CopyReport(out(), err(), "send", json.ownsStandardOutput())) {
            report = progress;
            switch (transport) {
                case RDMA -> overRdma(files, address, progress);
                case TCP -> overTcp(files, address, progress);
            }
            progress.summarize(how);
        }
        if (json.requested()) {
            Map<String, Object> document = new LinkedHashMap<>();
            document.put("schema", 1);
            document.put("environment", Environment.describe("", device.device()));
            document.put("transport", how);
            document.put("files", report.rows());
            json.write(document, out());
        }
        return report.failed() == 0 ? 0 : 1;
    }

    private PeerAddress address(String text) {
        try {
            return PeerAddress.parse(text);
        } catch (TypeConversionException e) {
            throw usage(e.getMessage() + "; the last argument is the receiver");
        }
    }

    private void overRdma(List<Path> files, PeerAddress address, CopyReport report) {
        SessionOptions options = device.apply(SessionOptions.defaults()
                .withName("send")
                .withThreadMode(ThreadMode.CALLER)
                .withChannel(channel(depth))
                .withAddress(address.host(), address.port()));
        try (ClientSession session = ClientSession.connect(options);
                RdmaSenderLink link =
                        new RdmaSenderLink(session, session.endPoint(), new RingSize((int) chunk, depth))) {
            sendAll(files, link, report);
        }
    }

    /// Both sides of a file copy use channels like this one.
    static ChannelOptions channel(int depth) {
        return ChannelOptions.defaults()
                .withSendWindow(2 * depth)
                .withReceives(2 * depth + 16)
                .withMessageBytes(FrameCodec.MAX_BYTES);
    }

    private void overTcp(List<Path> files, PeerAddress address, CopyReport report) throws IOException {
        InetSocketAddress target = new InetSocketAddress(address.host(), address.port());
        if (target.isUnresolved()) {
            throw new UnknownHostException(address.host());
        }
        SocketChannel socket = SocketChannel.open();
        try {
            socket.socket().connect(target, CONNECT_MILLIS);
        } catch (ConnectException e) {
            socket.close();
            throw new CommandFailure(
                    "nobody listens on " + address + ": start `rdmacomm recv --transport tcp` there", e);
        } catch (IOException e) {
            socket.close();
            throw new CommandFailure(address + " cannot be reached: " + e.getMessage(), e);
        }
        try (TcpLink link = new TcpLink(socket, (int) chunk)) {
            link.greetReceiver();
            sendAll(files, link, report);
        }
    }

    private static void sendAll(List<Path> files, SenderLink link, CopyReport report) {
        FileSender sender = new FileSender(link, report);
        for (Path file : files) {
            sender.send(file);
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec().commandLine(), message);
    }
}
