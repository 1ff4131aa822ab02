package io.rdmacomm.nio.channel;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Counts how each address was served, for a report. Thread-safe.
public final class Decisions {
    /// Served by the device.
    static final String RDMA = "RDMA";

    private static final int MOST = 200;

    private final Map<String, Integer> counts = new TreeMap<>();

    /// Counts a decision.
    ///
    /// @param what was done, for example `connect to`
    /// @param how it was served, and why
    synchronized void note(String what, InetSocketAddress address, String how) {
        String line = what + " " + address.getAddress().getHostAddress() + ":" + address.getPort() + ": " + how;
        boolean room = counts.size() < MOST || counts.containsKey(line);
        var _ = counts.merge(room ? line : "others: " + (RDMA.equals(how) ? how : "TCP, or failed"), 1, Integer::sum);
    }

    /// One line for each decision.
    public synchronized List<String> lines() {
        List<String> lines = new ArrayList<>();
        counts.forEach((line, count) -> lines.add(line + " (" + count + ")"));
        return lines;
    }
}
