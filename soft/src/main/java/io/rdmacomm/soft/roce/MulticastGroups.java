package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.DatagramChannel;
import java.util.HashMap;
import java.util.Map;

/// The multicast groups that queue pairs of a context are attached to. Each has a socket from its first queue pair
/// to its last. Thread-safe. Takes no lock of a queue pair, and no receiving thread takes its lock.
final class MulticastGroups implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(MulticastGroups.class);

    static final int MOST = 256;
    static final int MOST_MEMBERS = 64;

    private final MulticastSockets sockets;
    private final SocketReceivers receivers;
    private final RoceCounters counters;
    private final Map<InetAddress, MulticastGroup> groups = new HashMap<>();

    MulticastGroups(MulticastSockets sockets, SocketReceivers receivers, RoceCounters counters) {
        this.sockets = sockets;
        this.receivers = receivers;
        this.counters = counters;
    }

    /// Attaches a queue pair, unless it is attached.
    ///
    /// @throws VerbException ENOMEM if there are too many groups, or too many queue pairs in this one
    /// @throws IOException if the host has no socket left, or its interface cannot join the group
    synchronized void attach(String operation, InetAddress address, IncomingDatagram.Target member) throws IOException {
        MulticastGroup group = groups.get(address);
        if (group == null) {
            check(operation, groups.size(), MOST, "groups with queue pairs of this context");
            group = open(address);
        }
        if (!group.has(member)) {
            check(operation, group.size(), MOST_MEMBERS, "queue pairs attached to " + group);
            group.add(member);
        }
    }

    private static void check(String operation, int present, int most, String what) {
        if (present == most) {
            throw new VerbException(
                    operation, Errno.ENOMEM, "there are " + most + " " + what + " already; detach one of them first");
        }
    }

    private MulticastGroup open(InetAddress address) throws IOException {
        DatagramChannel channel = sockets.receive(address);
        boolean complete = false;
        try {
            MulticastGroup group = new MulticastGroup(address, channel, counters);
            receivers.watch(group.reader());
            groups.put(address, group);
            complete = true;
            return group;
        } finally {
            if (!complete) {
                channel.close();
            }
        }
    }

    /// Detaches a queue pair. A datagram in delivery may still reach it.
    synchronized void detach(InetAddress address, IncomingDatagram.Target member) throws IOException {
        MulticastGroup group = groups.get(address);
        if (group == null) {
            return;
        }
        group.remove(member);
        if (group.size() == 0) {
            groups.remove(address);
            receivers.unwatch(group.reader());
            group.reader().close();
        }
    }

    /// Closes all groups.
    @Override
    public synchronized void close() {
        for (MulticastGroup group : groups.values()) {
            try {
                group.reader().close();
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "closing the socket of " + group, e);
            }
        }
        groups.clear();
    }
}
