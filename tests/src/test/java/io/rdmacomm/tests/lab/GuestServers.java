package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Deadline;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// The servers on `siw1` that [HostToKernelTest] connects to. Runs in the guest until a client connects to [#STOP];
/// by then each server must have served its clients.
final class GuestServers {
    /// The port of each server. The host decides which of its ports it forwards to them.
    static final Map<String, Integer> PORTS = Map.of(
            "rping",
            7174,
            "copy-string",
            7175,
            "ping",
            7176,
            "recv",
            7177,
            "stop",
            7178,
            "bench",
            7179,
            "talk",
            7180,
            "rstream",
            7181);
    /// The servers whose queue pairs need a second port, with the same number in the guest and outside.
    static final List<String> SESSIONS = List.of("ping", "recv", "bench", "talk");
    /// A port for plain TCP, without RDMA.
    static final String STOP = "stop";
    /// The line that is printed once all servers listen.
    static final String READY = "all servers listen";
    /// What both ends of `rstream` are told.
    static final String STREAM = " -S 20000 -C 20 -I 3 -T v";
    /// The number of clients of `ping`.
    static final int PINGING = 5;

    private static final String ADDRESS = "10.0.2.15";
    private static final String LISTEN = "test $(rdma resource show cm_id | grep -c LISTEN) -ge 2";

    private static final int END_SECONDS = 30;

    private GuestServers() {}

    /// Runs the servers.
    ///
    /// @param words how many seconds a server waits for its client, then the ports for the queue pairs of
    /// [#SESSIONS]
    public static void main(String[] words) throws Exception {
        String seconds = words[0];
        // Serves one client after the other until it is stopped, and accepts texts of any size up to its own.
        Process rping = Shell.start("exec timeout " + seconds + " rping -s -P -a " + ADDRESS + " -p "
                + PORTS.get("rping") + " -S 65535 -V");
        Process rstream = Shell.start(
                "exec timeout " + seconds + " rstream -b " + ADDRESS + " -p " + PORTS.get("rstream") + STREAM);
        Path folder = Files.createTempDirectory("received");
        try (SessionTalk talk = SessionTalk.listen("siw1", ADDRESS, PORTS.get("talk"), Integer.parseInt(words[4]))) {
            Deadline.await("rping and rstream listen", () -> Shell.tryTo(LISTEN));
            Map<String, NearCommand> servers = new LinkedHashMap<>();
            servers.put(
                    "copy-string",
                    NearCommand.serve("copy-string -d siw1 --bind " + ADDRESS + " --port " + PORTS.get("copy-string")
                            + " --server --once --timeout " + seconds));
            servers.put("ping", session("ping --server --bind " + ADDRESS + " --count " + PINGING, "ping", words[1]));
            // On all addresses of the guest; its other devices listen on that port as well.
            servers.put("recv", session("recv --once --dir " + folder, "recv", words[2]));
            servers.put("bench", session("bench --server --once --bind " + ADDRESS, "bench", words[3]));
            awaitStop(Integer.parseInt(seconds));
            for (Map.Entry<String, NearCommand> server : servers.entrySet()) {
                Outcome outcome = server.getValue().end();
                System.out.println(server.getKey() + ": " + outcome.text());
                outcome.assertGood();
            }
            talk.end();
            System.out.println("received " + Contents.of(folder));
            assertThat(rstream.waitFor(END_SECONDS, TimeUnit.SECONDS))
                    .as("rstream has ended")
                    .isTrue();
            assertThat(rstream.exitValue()).as("rstream").isZero();
            assertThat(rping.isAlive())
                    .as("rping is still running; otherwise it ended with " + rping)
                    .isTrue();
        } finally {
            rping.destroy();
            rstream.destroy();
        }
    }

    private static NearCommand session(String words, String what, String connectionPort) {
        return NearCommand.serve(words + " -d siw1 --port " + PORTS.get(what) + " --rdma-cm-port " + connectionPort
                + " --set-up-timeout 60");
    }

    private static void awaitStop(int seconds) throws IOException {
        try (ServerSocket stop = new ServerSocket(PORTS.get(STOP), 1, InetAddress.ofLiteral(ADDRESS))) {
            stop.setSoTimeout((int) TimeUnit.SECONDS.toMillis(seconds));
            System.out.println(READY);
            stop.accept().close();
        }
    }
}
