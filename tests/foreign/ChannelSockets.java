import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/// An agent that puts a channel below each `java.net.Socket` and `ServerSocket` of the JVM. Some tests use one at one
/// end, and an rsocket talks to none. It comes after the agent of rdmacomm.
final class ChannelSockets extends SocketImpl {
    private Socket socket;
    private ServerSocket server;
    private SocketAddress bound;

    @SuppressWarnings("deprecation")
    public static void premain(String arguments) throws IOException {
        Socket.setSocketImplFactory(ChannelSockets::new);
        ServerSocket.setSocketFactory(ChannelSockets::new);
    }

    @Override
    protected void create(boolean stream) throws IOException {
        socket = SocketChannel.open().socket();
        server = ServerSocketChannel.open().socket();
    }

    @Override
    protected void connect(String host, int port) throws IOException {
        connect(new InetSocketAddress(host, port), 0);
    }

    @Override
    protected void connect(InetAddress address, int port) throws IOException {
        connect(new InetSocketAddress(address, port), 0);
    }

    @Override
    protected void connect(SocketAddress to, int timeout) throws IOException {
        if (bound != null) {
            socket.bind(bound);
        }
        socket.connect(to, timeout);
        connected(socket);
    }

    private void connected(Socket to) {
        socket = to;
        address = to.getInetAddress();
        port = to.getPort();
        localport = to.getLocalPort();
    }

    /// What is bound becomes a socket that listens or one that connects.
    @Override
    protected void bind(InetAddress host, int port) {
        bound = new InetSocketAddress(host, port);
    }

    @Override
    protected void listen(int backlog) throws IOException {
        server.bind(bound, backlog);
        localport = server.getLocalPort();
    }

    @Override
    protected void accept(SocketImpl accepted) throws IOException {
        ((ChannelSockets) accepted).connected(server.accept());
    }

    @Override
    protected InputStream getInputStream() throws IOException {
        return socket.getInputStream();
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        return socket.getOutputStream();
    }

    @Override
    protected int available() throws IOException {
        return socket.getInputStream().available();
    }

    @Override
    protected void shutdownInput() throws IOException {
        socket.shutdownInput();
    }

    @Override
    protected void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    @Override
    protected void close() throws IOException {
        if (socket != null) {
            socket.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        socket.sendUrgentData(data);
    }

    @Override
    public void setOption(int option, Object value) throws SocketException {
        switch (option) {
            case SocketOptions.SO_TIMEOUT -> {
                socket.setSoTimeout((Integer) value);
                if (server != null) {
                    server.setSoTimeout((Integer) value);
                }
            }
            case SocketOptions.SO_REUSEADDR -> server.setReuseAddress((Boolean) value);
            case SocketOptions.SO_KEEPALIVE -> socket.setKeepAlive((Boolean) value);
            case SocketOptions.TCP_NODELAY -> socket.setTcpNoDelay((Boolean) value);
            case SocketOptions.SO_LINGER ->
                socket.setSoLinger(value instanceof Integer, value instanceof Integer seconds ? seconds : 0);
            default -> throw new UnsupportedOperationException("option " + option);
        }
    }

    @Override
    public Object getOption(int option) throws SocketException {
        return switch (option) {
            case SocketOptions.SO_TIMEOUT -> socket.getSoTimeout();
            case SocketOptions.SO_REUSEADDR -> socket.getReuseAddress();
            case SocketOptions.SO_KEEPALIVE -> socket.getKeepAlive();
            case SocketOptions.TCP_NODELAY -> socket.getTcpNoDelay();
            case SocketOptions.SO_BINDADDR ->
                server != null && server.isBound() ? server.getInetAddress() : socket.getLocalAddress();
            default -> throw new UnsupportedOperationException("option " + option);
        };
    }
}
