package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Resolves names with a deadline, which the system's resolver does not have.
public final class HostNames {
    private static final List<InetAddress> LOOPBACK =
            List.of(Inet4Address.ofLiteral("127.0.0.1"), Inet6Address.ofLiteral("::1"));

    private HostNames() {}

    /// The addresses of `host`. Those of `localhost`, of an empty name and of [TcpListener#ALL_ADDRESSES] are
    /// the loopback addresses of this host, regardless of its hosts file: some hosts have only `::1`.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @throws SetupException HOST_UNKNOWN, DEADLINE_PASSED or INTERRUPTED
    public static List<InetAddress> resolve(String host, long deadline) {
        if (host.isEmpty() || host.equals(TcpListener.ALL_ADDRESSES) || host.equalsIgnoreCase("localhost")) {
            return loopback();
        }
        try {
            return List.of(InetAddress.ofLiteral(host));
        } catch (IllegalArgumentException _) {
            return lookUp(host, deadline);
        }
    }

    private static List<InetAddress> loopback() {
        List<InetAddress> present = new ArrayList<>(LOOPBACK);
        present.removeIf(address -> !isPresent(address));
        return present.isEmpty() ? LOOPBACK : present;
    }

    private static boolean isPresent(InetAddress address) {
        try {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    private static List<InetAddress> lookUp(String host, long deadline) {
        CompletableFuture<List<InetAddress>> result = new CompletableFuture<>();
        Thread.ofVirtual().name("rdmacomm-resolve-" + host).start(() -> {
            try {
                result.complete(List.of(InetAddress.getAllByName(host)));
            } catch (UnknownHostException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        try {
            return result.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new SetupException(
                    Reason.HOST_UNKNOWN, "host '" + host + "' is unknown; check the name", e.getCause());
        } catch (TimeoutException e) {
            throw new SetupException(
                    Reason.DEADLINE_PASSED, "the name '" + host + "' could not be resolved in time", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SetupException(Reason.INTERRUPTED, "interrupted while resolving '" + host + "'", e);
        }
    }
}
