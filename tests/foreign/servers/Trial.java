import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Starts a program in a second JVM with the options of this one, works with it, and stops it:
/// `Trial PROGRAM MEBIBYTES FOLDER`. The second JVM must end by itself.
final class Trial {
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final String PORT = "port ";

    private Trial() {}

    public static void main(String[] arguments) {
        try {
            run(arguments);
        } catch (Throwable e) {
            e.printStackTrace();
            // A program that failed may have threads left.
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws Exception {
        Program program = program(arguments[0]);
        Path folder = Path.of(arguments[2]).toAbsolutePath();
        Path file = folder.resolve("file.bin");
        if (arguments[1].equals("serve")) {
            serve(program, folder, file);
            return;
        }
        int mebibytes = Integer.parseInt(arguments[1]);
        Files.write(file, Bytes.of(mebibytes << 20, 1));
        Process server = start(arguments[0], folder);
        try {
            BufferedReader output = server.inputReader();
            String done = program.work(port(output), file, mebibytes);
            long begin = System.nanoTime();
            // The end of its input tells the program to stop.
            server.outputWriter().close();
            end(server);
            System.out.printf("%s: %s; stopped in %.1f s%n", arguments[0], done, (System.nanoTime() - begin) / 1e9);
        } finally {
            server.destroyForcibly();
        }
    }

    private static Program program(String name) {
        return switch (name) {
            case "Grizzly" -> new GrizzlyServer();
            case "Tomcat" -> new TomcatServer();
            case "Undertow" -> new UndertowServer();
            case "Vert.x" -> new VertxServer();
            case "Hazelcast" -> new HazelcastMember();
            default -> throw new IllegalArgumentException("unknown program '" + name + "'");
        };
    }

    private static void serve(Program program, Path folder, Path file) throws Exception {
        System.out.println(PORT + program.start(folder, file));
        // Also the end of the other JVM, however it comes.
        while (System.in.read() >= 0) {}
        program.stop();
    }

    private static Process start(String program, Path folder) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "Trial", program, "serve", folder.toString()));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static int port(BufferedReader output) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(PORT)) {
                return Integer.parseInt(line.substring(PORT.length()));
            }
            System.out.println(line);
        }
        throw new AssertionError("the program did not start");
    }

    private static void end(Process server) throws Exception {
        if (!server.waitFor(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
            String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
            new ProcessBuilder(jcmd, Long.toString(server.pid()), "Thread.print").inheritIO().start().waitFor();
            throw new AssertionError("the JVM of the program still runs " + STOP_LIMIT.toSeconds() + " s after its stop");
        }
        if (server.exitValue() != 0) {
            throw new AssertionError("the JVM of the program ended with " + server.exitValue());
        }
    }
}
