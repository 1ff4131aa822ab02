package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.channel.AddressRules.Choice;
import io.rdmacomm.nio.rsocket.SocketDevice;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Connects the channels of a provider: some addresses through an RDMA device, the others through the JDK. The
/// device is opened when it is first needed. Thread-safe.
public final class AddressRouter implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(AddressRouter.class);

    private final String deviceName;
    private final AddressRules rules;
    private final Decisions decisions;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable SocketDevice device;
    private boolean closed;

    /// @param deviceName empty for the first device
    /// @param rules the addresses that the device is used for
    /// @param decisions counts how each address was served
    public AddressRouter(String deviceName, AddressRules rules, Decisions decisions) {
        this.deviceName = deviceName;
        this.rules = rules;
        this.decisions = decisions;
    }

    /// How the device serves an address; null for TCP.
    ///
    /// @param what the operation, for the report
    /// @throws SocketException if the rules require the device and it cannot be opened; the message says what to do
    @Nullable
    RdmaService service(String what, InetSocketAddress address) throws SocketException {
        Choice choice = rules.choice(address, this::isOnDevice);
        if (choice == Choice.TCP) {
            decisions.note(
                    what,
                    address,
                    rules.forgetsWildcard(address, this::isOnDevice)
                            ? "TCP, because no rule names the wildcard address. Clients that use RDMA for an address of"
                                    + " this host cannot connect: add the rule 0.0.0.0 or :" + address.getPort()
                            : "TCP, because no rule names the address");
            return null;
        }
        try {
            return new RdmaService(device(), what, address, choice == Choice.EITHER, decisions);
        } catch (SocketException e) {
            if (choice == Choice.RDMA || isClosed()) {
                throw e;
            }
            decisions.note(what, address, "TCP, because of the RDMA device: " + e.getMessage());
            return null;
        }
    }

    /// Whether an address is reached through the device. False if there is no device.
    private boolean isOnDevice(InetAddress address) {
        try {
            return DeviceNetworks.isNetworkAddress(address)
                    && DeviceNetworks.isReachedThrough(device().context(), address);
        } catch (SocketException e) {
            LOGGER.log(System.Logger.Level.INFO, () -> address + " stays with TCP: " + e.getMessage());
            return false;
        }
    }

    /// The open device.
    ///
    /// @throws SocketException if it cannot be opened; the message says what to do
    SocketDevice device() throws SocketException {
        lock.lock();
        try {
            if (closed) {
                throw new SocketException("the provider of the channel is closed");
            }
            SocketDevice opened = device;
            if (opened == null) {
                opened = SocketDevice.open(deviceName);
                device = opened;
            }
            return opened;
        } catch (VerbException e) {
            throw new SocketException("no RDMA device for sockets: " + e.getMessage(), e);
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /// Closes the device. Its connections are reset.
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            if (device != null) {
                device.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
