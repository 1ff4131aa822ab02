import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// Measures a program and its client in two JVMs: `Load PROGRAM COLD-SECONDS MOST-WARM-UP-SECONDS SECONDS`. Prints lines
/// such as `figure warm 1234.5`. The other JVM, `Load PROGRAM serve FOLDER`, inherits the environment, and so the agent
/// that `rdmacomm run` adds.
final class Load {
    private static final String PORT = "port ";
    private static final String FIGURE = "figure ";
    /// The requests for which the time of the compilers is told.
    private static final long FIRST = 6000;
    private static final long LOOK_MILLIS = 10;
    private static final int WINDOW_MILLIS = 2000;
    /// The compilers are idle if they use less of a window.
    private static final double IDLE_SHARE = 0.04;
    private static final int STOP_SECONDS = 30;

    private final Meter meter = new Meter();
    private final ProcessTimes times;
    private double compiling = Double.NaN;

    private Load(Process server) {
        this.times = new ProcessTimes(server.pid());
    }

    public static void main(String[] arguments) {
        try {
            run(arguments);
            // The threads of the traffic do not end.
            System.exit(0);
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws Exception {
        Loaded program = Catalog.program(arguments[0]);
        if (arguments[1].equals("serve")) {
            System.out.println(PORT + program.start(Path.of(arguments[2])));
            // Also the end of the other JVM, however it comes.
            while (System.in.read() >= 0) {}
            program.stop();
            return;
        }
        Path folder = Files.createTempDirectory("rdmacomm-load");
        Process server = serve(arguments[0], folder);
        try {
            int port = port(server.inputReader());
            new Load(server).measure(program, port, seconds(arguments[1]), seconds(arguments[2]), seconds(arguments[3]));
            server.outputWriter().close();
            if (!server.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the program still runs " + STOP_SECONDS + " s after its stop");
            }
        } finally {
            server.destroyForcibly().waitFor();
            delete(folder);
        }
    }

    private static long seconds(String text) {
        return (long) (Double.parseDouble(text) * 1000);
    }

    private static Process serve(String program, Path folder) throws IOException {
        List<String> command = new ArrayList<>(ProcessTimes.thisCommand());
        command.addAll(List.of("Load", program, "serve", folder.toString()));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static int port(BufferedReader output) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(PORT)) {
                int port = Integer.parseInt(line.substring(PORT.length()));
                // What it prints later must not fill the pipe.
                Thread.ofVirtual().start(() -> output.lines().forEach(_ -> {}));
                return port;
            }
        }
        throw new AssertionError("the program did not start");
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        }
    }

    private void measure(Loaded program, int port, long coldMillis, long mostMillis, long millis) throws Exception {
        long begin = System.nanoTime();
        program.begin(port, meter);
        await(begin, coldMillis);
        print("cold", meter.operations() / elapsed(begin));
        awaitIdleCompilers(begin, mostMillis);
        long operations = meter.operations();
        double processor = times.processorSeconds();
        long warm = System.nanoTime();
        await(warm, millis);
        double done = meter.operations() - operations;
        print("warm", done / elapsed(warm));
        print("cpu", (times.processorSeconds() - processor) * 1e6 / done);
        if (!Double.isNaN(compiling)) {
            print("compiling", compiling);
        }
    }

    private static void print(String name, double figure) {
        System.out.println(FIGURE + name + " " + figure);
    }

    private static double elapsed(long begin) {
        return (System.nanoTime() - begin) / 1e9;
    }

    private void await(long begin, long millis) throws Exception {
        while (System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(millis)) {
            Thread.sleep(LOOK_MILLIS);
            meter.check();
            if (Double.isNaN(compiling) && meter.operations() >= FIRST) {
                compiling = times.compilerSeconds();
            }
        }
    }

    private void awaitIdleCompilers(long begin, long mostMillis) throws Exception {
        double before = Double.NEGATIVE_INFINITY;
        double now = times.compilerSeconds();
        while (now - before > IDLE_SHARE * WINDOW_MILLIS / 1e3 && elapsed(begin) * 1e3 < mostMillis) {
            await(System.nanoTime(), WINDOW_MILLIS);
            before = now;
            now = times.compilerSeconds();
        }
    }
}
