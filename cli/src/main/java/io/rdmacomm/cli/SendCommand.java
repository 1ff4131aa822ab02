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
import java.util.Map;
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
            "Keeps names, permissions and modification times, and verifies a checksum. A file appears under its name only",
            "when it is complete. The exit code is 1 if a file could not be sent.",
            "",
            "Examples:",
            "  rdmacomm recv --dir /data             on one machine, and on another:",
            "  rdmacomm send a.img b.img node7",
            "  rdmacomm send a.img node7 --transport tcp      the same over a plain socket, for comparison"
        })
final class SendCommand extends Subcommand {
    private static final int CONNECT_MILLIS = 10_000;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE... HOST[:PORT]",
            hideParamSyntax = true,
            description = "The files, and where `rdmacomm recv` runs.")
    private List<String> words = new ArrayList<>();

    @Option(
            names = "--chunk",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = "1M",
            description = "Bytes per transfer (default: ${DEFAULT-VALUE}).")
    private long chunk;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "16",
            description = "Chunks in flight (default: ${DEFAULT-VALUE}).")
    private int depth;

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    @Mixin
    private final ModeOptions modes = new ModeOptions();

    @Override
    public Integer call() throws IOException {
        if (words.size() < 2) {
            throw usage("FILE... HOST: name at least one file, and the machine where `rdmacomm recv` runs");
        }
        RingSize ring = ring();
        TransportOption.Transport checked = transport.checked(device, modes);
        List<Path> files =
                words.subList(0, words.size() - 1).stream().map(Path::of).toList();
        PeerAddress address = address(words.getLast());
        json.check();
        try (CopyReport report = new CopyReport(output(), json.ownsStandardOutput())) {
            switch (checked) {
                case RDMA -> sendOverRdma(files, address, ring, report);
                case TCP -> sendOverTcp(files, address, ring, report);
            }
            report.summarize(transport.label());
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("transport", transport.label());
            result.put("files", report.rows());
            json.write("", device.device(), result, output());
            return report.failed() == 0 ? 0 : 1;
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

    private void sendOverRdma(List<Path> files, PeerAddress address, RingSize ring, CopyReport report) {
        SessionOptions options = modes.apply(device.apply(SessionOptions.defaults()
                .withName("send")
                .withThreadMode(ThreadMode.CALLER)
                .withChannel(channel(ring.depth()))
                .withAddress(address.host(), address.port())));
        try (ClientSession session = ClientSession.connect(options);
                RdmaSenderLink link = new RdmaSenderLink(session, session.endPoint(), ring)) {
            sendAll(files, link, report);
        }
    }

    /// The options of the channel on both sides of a file copy.
    static ChannelOptions channel(int depth) {
        return ChannelOptions.defaults()
                .withSendWindow(2 * depth)
                .withReceives(2 * depth + 16)
                .withMessageBytes(FrameCodec.MAX_BYTES);
    }

    private static void sendOverTcp(List<Path> files, PeerAddress address, RingSize ring, CopyReport report)
            throws IOException {
        try (TcpLink link = new TcpLink(connect(address), ring.chunk())) {
            link.greetReceiver();
            sendAll(files, link, report);
        }
    }

    private static SocketChannel connect(PeerAddress address) throws IOException {
        InetSocketAddress target = new InetSocketAddress(address.host(), address.port());
        if (target.isUnresolved()) {
            throw new UnknownHostException(address.host());
        }
        SocketChannel socket = SocketChannel.open();
        try {
            socket.socket().connect(target, CONNECT_MILLIS);
            return socket;
        } catch (ConnectException e) {
            socket.close();
            throw new CommandFailure(
                    "nobody listens on " + address + ": start `rdmacomm recv --transport tcp` there", e);
        } catch (IOException e) {
            socket.close();
            throw new CommandFailure(address + " cannot be reached: " + e.getMessage(), e);
        }
    }

    private static void sendAll(List<Path> files, SenderLink link, CopyReport report) {
        FileSender sender = new FileSender(link, report);
        files.forEach(sender::send);
    }
}
