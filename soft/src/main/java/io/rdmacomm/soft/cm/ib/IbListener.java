package io.rdmacomm.soft.cm.ib;

import io.rdmacomm.soft.roce.cm.Conversation;
import io.rdmacomm.soft.roce.cm.ListeningPort;
import io.rdmacomm.soft.roce.cm.ServiceInquiry;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.DatagramRequestDriver;
import io.rdmacomm.verbs.spi.Driver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import java.net.InetSocketAddress;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// A port at which requests of one kind wait for a program.
///
/// @param <M> the kind of requests in the protocol
/// @param <R> the kind of requests for the program
final class IbListener<M, R extends Driver> implements ListenerDriver<R> {
    private final IbDevice device;
    private final ListeningPort<M> port;
    private final BiFunction<IbDevice, M, R> wrap;

    private IbListener(IbDevice device, ListeningPort<M> port, BiFunction<IbDevice, M, R> wrap) {
        this.device = device;
        this.port = port;
        this.wrap = wrap;
    }

    static ListenerDriver<ConnectionRequestDriver> forConnections(IbDevice device, ListeningPort<Conversation> port) {
        return new IbListener<Conversation, ConnectionRequestDriver>(device, port, IbConnectionRequest::new);
    }

    static ListenerDriver<DatagramRequestDriver> forDatagrams(IbDevice device, ListeningPort<ServiceInquiry> port) {
        return new IbListener<ServiceInquiry, DatagramRequestDriver>(device, port, IbDatagramRequest::new);
    }

    @Override
    public InetSocketAddress localAddress() {
        return new InetSocketAddress(device.address(), port.number());
    }

    @Override
    public @Nullable R awaitRequest(long timeoutNanos) throws InterruptedException {
        M request = port.await(timeoutNanos);
        return request == null ? null : wrap.apply(device, request);
    }

    @Override
    public void closing() {
        for (M request : port.end()) {
            R driver = wrap.apply(device, request);
            Closer.step(driver, () -> {
                switch (driver) {
                    case ConnectionRequestDriver connection -> connection.reject(new byte[0]);
                    case DatagramRequestDriver datagram -> datagram.reject(new byte[0]);
                    default -> throw new AssertionError(driver);
                }
            });
        }
    }

    @Override
    public void close() {
        closing();
    }

    @Override
    public String toString() {
        return "listener at " + localAddress() + " on " + device;
    }
}
