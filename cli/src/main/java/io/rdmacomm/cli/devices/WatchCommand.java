package io.rdmacomm.cli.devices;

import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.JsonLines;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.Range;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `rdmacomm watch`: like ibv_asyncwatch(1).
@Command(
        name = "watch",
        description = "Print the asynchronous events of a device and its ports, until Ctrl-C.",
        footer = {
            "",
            "A program receives only the events of the device, of its ports, and of its own objects. With --json, each"
                    + " event is one line of JSON.",
            "",
            "Examples:",
            "  rdmacomm watch rxe0",
            "  rdmacomm watch rxe0 --json - --duration 60"
        })
public final class WatchCommand extends Subcommand {
    private static final double LONGEST_SECONDS = 1e9;

    @Parameters(
            arity = "0..1",
            paramLabel = "DEVICE",
            description = "The device (default: the first one); `rdmacomm devices` lists them.")
    private String name = "";

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            description = "Exit after this many events.")
    @Range(min = 1)
    private long count = Long.MAX_VALUE;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            description = "Exit after this many seconds.")
    @Range(max = LONGEST_SECONDS)
    private double duration = LONGEST_SECONDS;

    @Mixin
    private final JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException, InterruptedException {
        json.check();
        Device device = name.isEmpty() ? Rdma.device() : Rdma.device(name);
        try (Context context = device.open();
                JsonLines lines = json.lines(output());
                CloseOnExit _ = new CloseOnExit(context::close)) {
            print(device.name() + " (" + device.provider() + "): watching");
            watch(context, lines);
        }
        return 0;
    }

    private void print(String line) {
        if (!json.ownsStandardOutput()) {
            output().println(line);
        }
    }

    private void watch(Context context, JsonLines lines) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + (long) (duration * 1e9);
        long left = (long) (duration * 1e9);
        for (long seen = 0; seen < count && left >= 0; left = deadline - System.nanoTime()) {
            AsyncEvent event;
            try {
                event = context.awaitAsyncEvent(Duration.ofNanos(left));
            } catch (IllegalStateException e) {
                if (context.isOpen()) {
                    throw e;
                }
                return; // Ctrl-C
            }
            if (event != null) {
                seen++;
                print(text(context, event));
                lines.write(members(context, event));
            }
        }
    }

    private static String text(Context context, AsyncEvent event) {
        String what = Instant.now().truncatedTo(ChronoUnit.MILLIS) + " " + context;
        if (event.port() > 0) {
            return what + " port " + event.port() + ": " + event.type() + ", now " + state(context, event.port());
        }
        return what + ": " + event.type() + (event.resource() == null ? "" : ", " + event.resource());
    }

    private static Map<String, Object> members(Context context, AsyncEvent event) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("time", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());
        members.put("device", context.device().name());
        members.put("event", event.type().name());
        members.put("code", event.type().code());
        if (event.port() > 0) {
            members.put("port", event.port());
            members.put("port_state", state(context, event.port()));
        }
        return members;
    }

    /// The current state of the port.
    private static String state(Context context, int port) {
        try {
            return VerbsNames.of(context.port(port).state());
        } catch (VerbException | IllegalStateException e) {
            return "unknown";
        }
    }
}
