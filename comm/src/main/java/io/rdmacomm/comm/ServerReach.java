package io.rdmacomm.comm;

import io.rdmacomm.comm.setup.LocalAddress;
import io.rdmacomm.comm.setup.RetryPause;
import io.rdmacomm.comm.setup.SetUpException;
import io.rdmacomm.comm.setup.SetUpException.Reason;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.comm.setup.TcpListener;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// The way to the server whose host and port options name.
final class ServerReach {
    private static final long PAUSE_NANOS = 20_000_000;

    private ServerReach() {}

    /// Waits a moment before a busy server is asked again.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @return false if that comes first
    static boolean pause(long deadline) {
        if (!RetryPause.before(deadline)) {
            return false;
        }
        if (Thread.currentThread().isInterrupted()) {
            throw new CommInterruptedException("interrupted while the server was busy", null);
        }
        return true;
    }

    /// The server in messages.
    static String name(SessionOptions options) {
        boolean here = options.host().isEmpty() || options.host().equals(TcpListener.ALL_ADDRESSES);
        return (here ? "localhost" : options.host()) + ":" + options.port();
    }

    /// `options` with the GID index for the address of this side in packets to the server.
    static SessionOptions forConnection(SessionDevice device, SessionOptions options) {
        return device.forConnection(options, () -> localAddress(options));
    }

    /// The address of this side in packets to the server; the wildcard address if it is unknown.
    static InetAddress localAddress(SessionOptions options) {
        return LocalAddress.towards(
                options.host(), options.port(), options.deadlines().connect());
    }

    /// Connects to the server, repeatedly if the options say so. Blocks.
    static TcpConnector connect(SessionOptions options) {
        long deadline = System.nanoTime() + options.deadlines().connect().toNanos();
        SetUpException refused = null;
        while (true) {
            Duration left = Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
            try {
                return TcpConnector.connect(options.host(), options.port(), left);
            } catch (SetUpException e) {
                if (e.reason() == Reason.DEADLINE_PASSED && refused != null) {
                    // The last attempt has hardly any time, so the failure of an earlier one is more informative.
                    throw refused;
                }
                if (e.reason() != Reason.REFUSED
                        || !options.waitForServer()
                        || deadline - System.nanoTime() <= PAUSE_NANOS) {
                    throw e;
                }
                refused = e;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            if (Thread.currentThread().isInterrupted()) {
                throw new CommInterruptedException("interrupted while waiting for the server", null);
            }
        }
    }
}
