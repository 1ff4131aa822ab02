package io.rdmacomm.nio.channel;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/// The implementation that the constructors of sockets require. Never called: our sockets override all methods.
final class NoSocketImpl extends SocketImpl {
    private static UnsupportedOperationException never() {
        return new UnsupportedOperationException("a socket of an RDMA channel has no implementation of its own");
    }

    @Override
    protected void create(boolean stream) {
        throw never();
    }

    @Override
    protected void connect(String host, int port) {
        throw never();
    }

    @Override
    protected void connect(InetAddress address, int port) {
        throw never();
    }

    @Override
    protected void connect(SocketAddress address, int timeout) {
        throw never();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        throw never();
    }

    @Override
    protected void listen(int backlog) {
        throw never();
    }

    @Override
    protected void accept(SocketImpl s) {
        throw never();
    }

    @Override
    protected InputStream getInputStream() {
        throw never();
    }

    @Override
    protected OutputStream getOutputStream() {
        throw never();
    }

    @Override
    protected int available() {
        throw never();
    }

    @Override
    protected void close() {
        throw never();
    }

    @Override
    protected void sendUrgentData(int data) {
        throw never();
    }

    @Override
    public void setOption(int name, Object value) {
        throw never();
    }

    @Override
    public Object getOption(int name) {
        throw never();
    }
}
