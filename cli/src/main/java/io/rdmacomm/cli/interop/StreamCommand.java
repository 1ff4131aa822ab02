package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.AddressText;
import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.DeviceOption;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.cli.command.PeerOptions;
import io.rdmacomm.cli.command.ProgressLine;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.cli.command.TimeoutOption;
import io.rdmacomm.cli.rig.Sockets;
import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `rdmacomm stream`: a stream of bytes through a socket over RDMA, there and back, like rstream(1).
@Command(
        name = "stream",
        description = {
            "Send a stream of bytes there and back through a socket over RDMA, and show how long it takes.",
            "The other end may be rstream of librdmacm. Its option -s is HOST here, and -b is --bind.",
            "",
            "Both ends need the same --size, --count and --iterations; without them, the client connects twice, for"
                    + " latency and for bandwidth in four sizes. The time is that of both directions."
        },
        footer = {
            "",
            "The port is 7471 unless --port says another.",
            "",
            "Examples:",
            "  rdmacomm stream --server                        on one machine, and on another:",
            "  rdmacomm stream node7                           or rstream -s node7",
            "  rdmacomm stream node7 --tcp                     with plain sockets, if the server has --tcp",
            "  rdmacomm stream --server -S 64k -C 1000 -T v    every byte is checked, for:",
            "  rstream -s node7 -S 65536 -C 1000 -T v"
        })
public final class StreamCommand extends Subcommand {
    private static final int PORT = 7471;
    private static final int DEVICE_PORT = 1;
    private static final String EVERYWHERE = "*";

    @Mixin
    private final PeerOptions peer = new PeerOptions();

    @Mixin
    private final StreamOptions options = new StreamOptions();

    @Mixin
    private final TimeoutOption timeout = new TimeoutOption();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final DeviceOption device = new DeviceOption();

    /// @param provider the provider of the device; empty for plain sockets
    private record Chosen(String name, String provider) {
        static final Chosen NONE = new Chosen("", "");

        String line() {
            return name.isEmpty() ? "plain TCP sockets" : "device " + name + ", sockets over RDMA";
        }
    }

    @Override
    public Integer call() throws IOException {
        peer.check();
        options.check();
        if (options.isTcp()) {
            exclude("--tcp", "--device");
        }
        PeerAddress address = peer.address();
        if (!peer.isServer() && address == null) {
            throw usage("HOST is missing: name the machine where `rdmacomm stream --server` or rstream runs");
        }
        json.check();
        if (address == null) {
            serve();
        } else {
            stream(new InetSocketAddress(address.host(), address.port(listen.port(PORT))));
        }
        return 0;
    }

    private void serve() throws IOException {
        Chosen chosen = choose(listen::localAddress);
        InetSocketAddress address = listen.socketAddress(PORT);
        if (address.isUnresolved()) {
            throw unknown(address);
        }
        SelectorProvider provider = provider(chosen);
        try (CloseOnExit _ = new CloseOnExit(() -> close(provider));
                StreamServer server =
                        new StreamServer(provider, address, options.plan(), timeout.value(true), output());
                CloseOnExit _ = new CloseOnExit(server::close)) {
            output().println(chosen.line());
            output().println(listen.line(server.port()));
            if (peer.isOnce()) {
                server.serveOne();
            } else {
                server.run();
            }
        }
    }

    private void stream(InetSocketAddress server) throws IOException {
        if (server.isUnresolved()) {
            throw unknown(server);
        }
        boolean text = !json.ownsStandardOutput();
        StreamOptions.Plan plan = options.plan();
        Chosen chosen = choose(() -> new PeerAddress(server.getHostString(), server.getPort()).localAddress(PORT));
        if (text) {
            output().println(chosen.line());
        }
        SelectorProvider provider = provider(chosen);
        Output table = new Output(output(), text);
        StreamEnd end = new StreamEnd(plan, false, timeout.value(false), table);
        try (table;
                CloseOnExit _ = new CloseOnExit(() -> close(provider))) {
            for (List<StreamTest> tests : plan.connections()) {
                end.run(connect(provider, server, plan), tests);
            }
        }
        if (text && plan.verified()) {
            output().println(ByteSize.format(end.checked()) + " from the server, correct");
        }
        json.write(chosen.provider(), chosen.name(), document(server, plan, table.results()), output());
    }

    private SocketChannel connect(SelectorProvider provider, InetSocketAddress server, StreamOptions.Plan plan)
            throws IOException {
        try {
            return Sockets.connect(provider, server, timeout.value(false), channel -> {
                channel.setOption(StandardSocketOptions.SO_SNDBUF, plan.bufferBytes());
                channel.setOption(StandardSocketOptions.SO_RCVBUF, plan.bufferBytes());
            });
        } catch (ConnectException | SocketTimeoutException e) {
            throw new CommandFailure(
                    AddressText.of(server) + ": " + e.getMessage() + ": does "
                            + (options.isTcp()
                                    ? "`rdmacomm stream --server --tcp`"
                                    : "`rdmacomm stream --server` without --tcp, or rstream,")
                            + " run there?",
                    e);
        }
    }

    private Map<String, Object> document(
            InetSocketAddress server, StreamOptions.Plan plan, List<StreamResult> results) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("transport", options.isTcp() ? "tcp" : "rdma");
        members.put("server", AddressText.of(server));
        members.put("verified", plan.verified());
        members.put("results", results.stream().map(StreamResult::toMap).toList());
        return members;
    }

    /// The device, by name only: the sockets open it themselves.
    private Chosen choose(Supplier<InetAddress> local) {
        if (options.isTcp()) {
            return Chosen.NONE;
        }
        try (Context context =
                device.open(DEVICE_PORT, Capability.RELIABLE_CONNECTED, local).context()) {
            String name = device.name().isEmpty() ? context.device().name() : device.name();
            return new Chosen(name, context.device().provider());
        }
    }

    private static SelectorProvider provider(Chosen chosen) {
        return chosen.equals(Chosen.NONE)
                ? SelectorProvider.provider()
                : RdmaSelectorProvider.of(chosen.name(), EVERYWHERE);
    }

    private static void close(SelectorProvider provider) {
        if (provider instanceof RdmaSelectorProvider ours) {
            ours.close();
        }
    }

    private static CommandFailure unknown(InetSocketAddress address) {
        return new CommandFailure("unknown host " + address.getHostString() + ": check the name");
    }

    /// Collects the results of a client, shows them as a table, and shows which test is running.
    static final class Output implements StreamEnd.Listener, AutoCloseable {
        private final CommandOutput output;
        private final boolean text;
        private final ProgressLine progress;
        private final List<StreamResult> results = new ArrayList<>();

        /// @param text whether to print the table
        Output(CommandOutput output, boolean text) {
            this.output = output;
            this.text = text;
            this.progress = new ProgressLine(output.err());
        }

        @Override
        public void onBegin(StreamTest test) {
            progress.show(test.name() + " ...");
        }

        @Override
        public void onEnd(StreamResult result) {
            progress.clear();
            if (text && results.isEmpty()) {
                output.println(StreamResult.HEADER);
            }
            if (text) {
                output.println(result.line());
            }
            results.add(result);
        }

        List<StreamResult> results() {
            return List.copyOf(results);
        }

        @Override
        public void close() {
            progress.close();
        }
    }
}
