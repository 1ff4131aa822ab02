package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.SocketDevice;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Where the channels of a provider get their connections: from an RDMA device for some addresses, from the JDK
/// for the others. The device is opened when it is first needed. Thread-safe.
public final class Transport {
    private final String deviceName;
    private final AddressRules rules;
    private final Decisions decisions;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable SocketDevice device;

    /// @param deviceName empty for the first device
    /// @param rules for which addresses the device is used
    /// @param decisions counts which addresses were served how
    public Transport(String deviceName, AddressRules rules, Decisions decisions) {
        this.deviceName = deviceName;
        this.rules = rules;
        this.decisions = decisions;
    }

    /// Whether the device serves an address.
    ///
    /// @param what is to be done there, for the report
    boolean isRdma(String what, InetSocketAddress address) {
        boolean rdma = rules.isRdma(address);
        decisions.note(what, address, rdma);
        return rdma;
    }

    /// The open device.
    ///
    /// @throws SocketException if it cannot be opened; the message says what to do
    SocketDevice device() throws SocketException {
        lock.lock();
        try {
            SocketDevice opened = device;
            if (opened == null) {
                opened = SocketDevice.open(deviceName);
                device = opened;
            }
            return opened;
        } catch (VerbException e) {
            SocketException failure = new SocketException("no RDMA device for sockets: " + e.getMessage());
            failure.initCause(e);
            throw failure;
        } finally {
            lock.unlock();
        }
    }

    /// A channel of the JDK.
    SocketChannel openSocket() throws IOException {
        return SystemSockets.openSocket();
    }

    /// A listening channel of the JDK.
    ServerSocketChannel openServerSocket() throws IOException {
        return SystemSockets.openServerSocket();
    }
}
