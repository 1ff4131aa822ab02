package io.rdmacomm.compare.peer;

import io.rdmacomm.cli.bench.trial.CacheLineFloor;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/// One end of the floor of all libraries over shared memory: a cache line back and forth, as `rdmacomm bench` measures
/// it, for each line of the standard input. The client, whose arguments start the server, prints a line with the
/// figure. In between both sleep, and stay warm.
public final class CacheLine {
    private CacheLine() {}

    /// Runs one end until its input ends.
    public static void main(String[] serverCommand) throws IOException {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        if (serverCommand.length == 0) {
            serve(requests);
        } else {
            measure(requests, serverCommand);
        }
    }

    private static void serve(BufferedReader requests) throws IOException {
        while (requests.readLine() != null) {
            try (CacheLineFloor floor = CacheLineFloor.create()) {
                say(floor.name());
                floor.serve();
            }
        }
    }

    private static void measure(BufferedReader requests, String... serverCommand) throws IOException {
        Process server = new ProcessBuilder(serverCommand)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (Writer toServer = server.outputWriter(StandardCharsets.UTF_8);
                BufferedReader names = server.inputReader(StandardCharsets.UTF_8)) {
            boolean warm = false;
            while (requests.readLine() != null) {
                toServer.append('\n').flush();
                String name = names.readLine();
                if (name == null) {
                    throw new EOFException("the other process has ended");
                }
                try (CacheLineFloor floor = CacheLineFloor.open(name)) {
                    say(PeerMain.FIGURE + (warm ? floor.median() : floor.warmMedian()));
                }
                warm = true;
            }
        } finally {
            server.destroy();
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
