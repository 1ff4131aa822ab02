package io.rdmacomm.tests.lab;

import io.rdmacomm.tests.fixture.Deadline;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// The servers on `siw1` with which [HostToKernelTest] speaks. Runs in the guest until somebody connects to
/// [#STOP]; by then ours must have had its client.
final class GuestServers {
    /// The ports by what they are for; what is forwarded to them is up to the host.
    static final Map<String, Integer> PORTS = Map.of("rping", 7174, "copy-string", 7175, "stop", 7178);
    /// A port of [#PORTS] for TCP, without RDMA.
    static final String STOP = "stop";
    /// What it says when all of them listen.
    static final String READY = "all servers listen";

    private static final String ADDRESS = "10.0.2.15";
    private static final String LISTENS = "rdma resource show cm_id | grep LISTEN >/dev/null";

    private GuestServers() {}

    /// Serves.
    ///
    /// @param words how many seconds a server waits for its client
    public static void main(String[] words) throws Exception {
        String seconds = words[0];
        // One client after the other, until it is stopped; takes the texts of all sizes up to its own.
        Process rping = Shell.start("exec timeout " + seconds + " rping -s -P -a " + ADDRESS + " -p "
                + PORTS.get("rping") + " -S 65535 -V");
        try {
            Deadline.await("rping listens", () -> Shell.tryTo(LISTENS));
            NearCommand copying = NearCommand.serve("copy-string -d siw1 --bind " + ADDRESS + " --port "
                    + PORTS.get("copy-string") + " --server --once --timeout " + seconds);
            awaitStop(Integer.parseInt(seconds));
            Outcome outcome = copying.end();
            System.out.println(outcome.text());
            outcome.assertGood();
            if (!rping.isAlive()) {
                throw new AssertionError("rping has ended before its clients: " + rping.exitValue());
            }
        } finally {
            rping.destroy();
        }
    }

    private static void awaitStop(int seconds) throws IOException {
        try (ServerSocket stop = new ServerSocket(PORTS.get(STOP), 1, InetAddress.ofLiteral(ADDRESS))) {
            stop.setSoTimeout((int) TimeUnit.SECONDS.toMillis(seconds));
            System.out.println(READY);
            stop.accept().close();
        }
    }
}
