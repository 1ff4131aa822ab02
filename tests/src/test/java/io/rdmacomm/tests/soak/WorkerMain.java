package io.rdmacomm.tests.soak;

import io.rdmacomm.tests.nio.EchoClient;
import io.rdmacomm.tests.nio.EchoServer;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.RemoteMemory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.ConsoleHandler;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/// A process with links to others. Executes the commands on its standard input, each on a thread of its own; ends
/// when the input ends. Arguments: the names of its devices.
final class WorkerMain implements Reporter {
    private static final long TIMEOUT_MILLIS = TimeUnit.SECONDS.toMillis(Integer.getInteger("rdma.soak.timeout", 60));

    /// Kept, as otherwise its level is forgotten.
    private static final Logger TCP_LINKS = Logger.getLogger("io.rdmacomm.soft.tcp");

    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private final Map<String, Link> links = new ConcurrentHashMap<>();
    private final Map<String, Tally> tallies = new ConcurrentHashMap<>();
    private final Map<String, ProtectionDomain> domains = new ConcurrentHashMap<>();
    private final Map<String, SharedInbox> inboxes = new ConcurrentHashMap<>();
    private final Pulse pulse = new Pulse();
    private final List<Context> contexts = new ArrayList<>();
    /// By the name of the device.
    private final Map<String, EchoServer> echoes = new ConcurrentHashMap<>();

    private WorkerMain(String[] devices) {
        for (String device : devices) {
            Context context = Rdma.open(device);
            contexts.add(context);
            ProtectionDomain domain = context.allocateProtectionDomain();
            domains.put(device, domain);
            inboxes.put(device, new SharedInbox(domain));
            Thread.ofPlatform().daemon().name("events of " + device).start(() -> takeEvents(context));
        }
    }

    public static void main(String[] devices) throws IOException {
        logEndsOfLinks();
        new WorkerMain(devices).serve();
        System.exit(0);
    }

    /// Writes why each TCP connection has ended to the standard error.
    private static void logEndsOfLinks() {
        ConsoleHandler handler = new ConsoleHandler();
        handler.setLevel(Level.FINE);
        TCP_LINKS.setLevel(Level.FINE);
        TCP_LINKS.setUseParentHandlers(false);
        TCP_LINKS.addHandler(handler);
    }

    /// Events that nobody takes would wait forever.
    private static void takeEvents(Context context) {
        try {
            while (true) {
                context.awaitAsyncEvent(Duration.ofHours(1));
            }
        } catch (IllegalStateException | RdmaInterruptedException e) {
            // The context is closed.
        }
    }

    private void serve() throws IOException {
        say(Words.of("ready", ProcessHandle.current().pid()));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                Words command = Words.parse(line);
                threads.execute(() -> answer(command));
            }
        }
        for (EchoServer echo : echoes.values()) {
            echo.close();
        }
        contexts.forEach(Context::close);
    }

    private void say(Words words) {
        synchronized (out) {
            out.println(words);
            out.flush();
        }
    }

    private void answer(Words command) {
        Words answer;
        try {
            answer = execute(command);
        } catch (Exception | AssertionError e) {
            if (e instanceof TimeoutException) {
                dump(String.valueOf(e));
            }
            answer = Words.of("failure", e.getClass().getSimpleName(), "text", e.getMessage() + at(e));
        }
        say(Words.of("answer", command.text("id")).addAll(answer));
    }

    private static String at(Throwable e) {
        return e.getStackTrace().length == 0 ? "" : " at " + e.getStackTrace()[0];
    }

    private Words execute(Words command) throws Exception {
        String name = command.has("link") ? command.text("link") : "";
        switch (command.text("do")) {
            case "open" -> {
                return open(name, command);
            }
            case "connect" -> link(name).connect(info(command), remote(command));
            case "quiesce" -> {
                long total = link(name).quiesce(TIMEOUT_MILLIS);
                return Words.of("total", total, "word", link(name).word());
            }
            case "finish" -> link(name).finish(command.number("total"), command.number("word"), TIMEOUT_MILLIS);
            case "drop" -> link(name).drop();
            case "revoke" -> link(name).revoke();
            case "notice" -> {
                if (!links.containsKey(name)) {
                    return Words.of("absent", name);
                }
                long noticed = link(name).awaitFailure(TIMEOUT_MILLIS);
                return Words.of("noticed", noticed, "delay", pulse.longest(command.number("since")));
            }
            case "await" -> link(name).awaitEnd(TIMEOUT_MILLIS);
            case "close" -> {
                Link link = link(name);
                links.remove(name);
                link.close(command.number("watch") > 0);
                return Words.of(
                        "acknowledged", link.acknowledged(), "posted", link.posted(), "expected", link.expected());
            }
            case "listen" -> {
                return Words.of("port", echo(command.text("device")).port());
            }
            case "churn" -> churn(name, command);
            case "show" -> {
                return Words.of("text", links.values().toString());
            }
            case "sample" -> {
                return Usage.now().words().addAll(counts());
            }
            default -> throw new IllegalArgumentException("unknown command " + command);
        }
        return new Words();
    }

    private EchoServer echo(String device) {
        EchoServer echo = echoes.computeIfAbsent(device, EchoServer::start);
        Throwable failure = echo.failure();
        if (failure != null) {
            throw new IllegalStateException("the selector has failed: " + failure, failure);
        }
        return echo;
    }

    /// Opens connections to the server of another worker, by blocking channels and by channels in the selector of the
    /// own server.
    private void churn(String name, Words command) throws Exception {
        Random random = new Random(command.number("seed"));
        EchoServer own = echo(command.text("device"));
        Tally tally = tallies.computeIfAbsent(name, key -> new Tally());
        int port = (int) command.number("port");
        for (long left = command.number("connections"); left > 0; left--) {
            tally.message((int) EchoClient.run(own, port, random));
        }
    }

    /// What all threads are doing, to the standard error.
    private static void dump(String why) {
        StringBuilder text = new StringBuilder(why).append('\n');
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            text.append(thread).append(' ').append(thread.getState()).append('\n');
            for (StackTraceElement frame : stack) {
                text.append("    ").append(frame).append('\n');
            }
        });
        System.err.print(text);
    }

    private Words counts() {
        Words words = new Words();
        tallies.forEach((name, tally) -> words.with(
                "tally." + name,
                LongStream.of(tally.take()).mapToObj(Long::toString).collect(Collectors.joining(","))));
        return words;
    }

    private Link link(String name) {
        Link link = links.get(name);
        if (link == null) {
            throw new IllegalStateException("there is no link " + name);
        }
        return link;
    }

    private Words open(String name, Words command) {
        String device = command.text("device");
        Link link = new Link(
                name,
                command.number("epoch"),
                (int) command.number("side"),
                command.number("seed"),
                command.number("rate"),
                domains.get(device),
                inboxes.get(device),
                this,
                tallies.computeIfAbsent(name, key -> new Tally()));
        if (links.put(name, link) != null) {
            violation(name, "leak: the life before was not closed");
        }
        QueuePairInfo info = link.info();
        RemoteMemory window = link.window();
        return Words.of(
                "number",
                info.number(),
                "psn",
                info.packetSequenceNumber(),
                "lid",
                info.lid(),
                "high",
                info.gid().high(),
                "low",
                info.gid().low(),
                "mtu",
                info.mtu(),
                "address",
                window.address(),
                "length",
                window.length(),
                "key",
                window.key());
    }

    private static QueuePairInfo info(Words words) {
        return new QueuePairInfo(
                (int) words.number("number"),
                (int) words.number("psn"),
                (int) words.number("lid"),
                new Gid(words.number("high"), words.number("low")),
                PathMtu.valueOf(words.text("mtu")));
    }

    private static RemoteMemory remote(Words words) {
        return new RemoteMemory(words.number("address"), words.number("length"), (int) words.number("key"));
    }

    @Override
    public void violation(String link, String text) {
        if (text.startsWith("missed") || text.startsWith("lost: work")) {
            dump(text);
        }
        say(Words.of("violation", link, "text", text));
    }

    @Override
    public void ended(String link, long epoch, String status, long noticed) {
        say(Words.of("ended", link, "epoch", epoch, "noticed", noticed, "text", status));
    }
}
