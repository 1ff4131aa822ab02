package io.rdmacomm.nio.channel;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Counts which addresses were served how, for a report. Thread-safe.
public final class Decisions {
    /// How the device served it.
    static final String RDMA = "RDMA";

    private static final int MOST = 200;

    private final Map<String, Integer> counts = new TreeMap<>();

    /// Notes a decision.
    ///
    /// @param what was done, for example `connect to`
    /// @param how it was served, and why
    synchronized void note(String what, InetSocketAddress address, String how) {
        String line = what + " " + address.getAddress().getHostAddress() + ":" + address.getPort() + ": " + how;
        boolean room = counts.size() < MOST || counts.containsKey(line);
        var _ = counts.merge(room ? line : "others: " + (RDMA.equals(how) ? how : "TCP, or failed"), 1, Integer::sum);
    }

    /// The decisions, a line each.
    public synchronized List<String> lines() {
        List<String> lines = new ArrayList<>();
        counts.forEach((line, count) -> lines.add(line + " (" + count + ")"));
        return lines;
    }
}
