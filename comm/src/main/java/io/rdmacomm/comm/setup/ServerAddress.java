package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// The host and the TCP port of a server, and how to connect to it.
///
/// @param host a name or an address; empty for this host
public record ServerAddress(String host, int port) {
    private static final long PAUSE_NANOS = 20_000_000;

    /// The server in messages.
    public String name() {
        boolean here = host.isEmpty() || host.equals(TcpListener.ALL_ADDRESSES);
        return (here ? "localhost" : host) + ":" + port;
    }

    /// The source address of this side in packets to the server; the wildcard address if it is unknown.
    public InetAddress localAddress(Duration timeout) {
        return LocalAddress.towards(host, port, timeout);
    }

    /// Connects to the server once. Blocks.
    public TcpConnector connect(Duration timeout) {
        return TcpConnector.connect(host, port, timeout);
    }

    /// Connects to the server, and retries while it refuses. Blocks.
    public TcpConnector awaitServer(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        SetupException refused = null;
        while (true) {
            Duration left = Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
            try {
                return connect(left);
            } catch (SetupException e) {
                if (e.reason() == Reason.DEADLINE_PASSED && refused != null) {
                    // The last attempt has hardly any time, so the failure of an earlier one is more informative.
                    throw refused;
                }
                if (e.reason() != Reason.REFUSED || deadline - System.nanoTime() <= PAUSE_NANOS) {
                    throw e;
                }
                refused = e;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            if (Thread.currentThread().isInterrupted()) {
                throw new SetupException(Reason.INTERRUPTED, "interrupted while waiting for the server");
            }
        }
    }
}
