package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.Printable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;

/// The set-up between both ends over TCP. In each step the client sends its message, and then the server answers
/// with its own message of the same kind.
///
/// ```
/// version      "6.06" in 16 bytes
/// page size    4 bytes, big-endian; the larger one counts
/// cache line   4 bytes, big-endian
/// MTU          a digit, 1 for 256 bytes to 5 for 4096, and NUL; the smaller one counts
/// key          see PerftestKey; several times: the first has the numbers, the others say "I am ready"
/// report       five numbers of 8 bytes, big-endian, each a step of its own
/// "done\0"     both at once
/// ```
///
/// A peer of version 6.28 or newer sends one more message, but not to a peer with an older version.
final class PerftestExchange implements AutoCloseable {
    /// The version of perftest whose protocol this is.
    static final String VERSION = "6.06";

    /// The oldest version that speaks it.
    private static final double OLDEST = 5.70;

    private static final int VERSION_BYTES = 16;
    private static final Pattern VERSION_TEXT = Pattern.compile("([0-9]{1,3}\\.[0-9]{1,3})[^\0]*\0*");
    private static final int PAGE = 4096;
    private static final int LARGEST_PAGE = 1 << 20;
    private static final int CACHE_LINE = 64;
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

    private final ControlSocket socket;
    private final boolean client;

    private PerftestExchange(ControlSocket socket, boolean client) {
        this.socket = socket;
        this.client = client;
    }

    /// The side of a server, over an accepted socket.
    static PerftestExchange accept(Socket socket, PerftestSettings settings) throws IOException {
        return new PerftestExchange(new ControlSocket(socket, settings.program().label(), settings.timeout()), false);
    }

    /// Connects to a server. Tries all addresses of the host in turn.
    static PerftestExchange connect(String host, int port, PerftestSettings settings) throws IOException {
        String program = settings.program().label();
        return new PerftestExchange(
                ControlSocket.connect(
                        host, port, program, "rdmacomm bench --interop " + program + " --server", settings.timeout()),
                true);
    }

    boolean isClient() {
        return client;
    }

    /// Where the peer is.
    InetAddress remoteAddress() {
        return socket.remoteAddress();
    }

    /// Agrees on the version of the protocol.
    ///
    /// @throws CommandFailure if the peer sent no version, or one that is too old
    void agreeOnVersion() throws IOException {
        byte[] peers = swap(Arrays.copyOf(VERSION.getBytes(StandardCharsets.US_ASCII), VERSION_BYTES), "version");
        String text = new String(peers, StandardCharsets.US_ASCII);
        var matcher = VERSION_TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new CommandFailure(socket.peer() + " sent '" + Printable.text(text.strip())
                    + "' instead of its version: check that " + socket.program()
                    + " runs on that port, without --dont_xchg_versions");
        }
        if (Double.parseDouble(matcher.group(1)) < OLDEST) {
            throw new CommandFailure("the " + socket.program() + " of " + socket.peer() + " has version "
                    + matcher.group(1) + ", and rdmacomm speaks with 5.70 or newer: install a newer perftest there");
        }
    }

    /// Agrees on the memory that an end uses for the smallest messages.
    ///
    /// @return its size in bytes
    /// @throws CommandFailure if the peer names an unreasonable size
    int agreeOnPage() throws IOException {
        int page = swapInt(PAGE, "page size");
        int line = swapInt(CACHE_LINE, "cache line size");
        if (page < 1 || page > LARGEST_PAGE || line < 1 || line > LARGEST_PAGE) {
            throw new CommandFailure(socket.peer() + " reports pages of " + page + " bytes and cache lines of " + line
                    + " bytes: check that " + socket.program() + " runs on that port");
        }
        return Math.max(page, PAGE);
    }

    private int swapInt(int own, String what) throws IOException {
        byte[] bytes = ByteBuffer.allocate(Integer.BYTES).putInt(own).array();
        return ByteBuffer.wrap(swap(bytes, what)).getInt();
    }

    /// Agrees on the path MTU.
    ///
    /// @return the smaller one
    PathMtu agreeOnMtu(PathMtu own) throws IOException {
        byte[] peers = swap(new byte[] {(byte) ('0' + own.code()), 0}, "MTU");
        int code = peers[0] - '0';
        if (code < PathMtu.MTU_256.code() || code > PathMtu.MTU_4096.code() || peers[1] != 0) {
            throw new CommandFailure(socket.peer() + " reports an MTU that does not exist: check that "
                    + socket.program() + " runs on that port");
        }
        return PathMtu.ofCode(Math.min(code, own.code()));
    }

    /// Exchanges keys; or reports that this end is ready, and waits until the other one is.
    ///
    /// @param what the peer's key means, for error messages
    PerftestKey swap(PerftestKey own, String what) throws IOException {
        socket.nextStep();
        if (client) {
            socket.write(own.encode());
        }
        PerftestKey peers = readKey(what);
        if (!client) {
            socket.write(own.encode());
        }
        return peers;
    }

    /// The text ends with the first NUL. Do not read past it, because the next message may follow.
    private PerftestKey readKey(String what) throws IOException {
        byte[] text = socket.read(PerftestKey.BYTES, what);
        if (text[PerftestKey.BYTES - 1] != 0) {
            byte[] rest = socket.read(PerftestKey.BYTES_WITH_GID - PerftestKey.BYTES, what);
            text = Arrays.copyOf(text, PerftestKey.BYTES_WITH_GID);
            System.arraycopy(rest, 0, text, PerftestKey.BYTES, rest.length);
        }
        return PerftestKey.decode(text, socket.peer(), socket.program());
    }

    /// Exchanges the figures of both ends; only the client's mean something.
    ///
    /// @return the peer's figures
    BandwidthFigures swap(BandwidthFigures own) throws IOException {
        long bytes = swapLong(own.bytes());
        long iterations = swapLong(own.iterations());
        double peak = swapDouble(own.peak());
        double average = swapDouble(own.average());
        return new BandwidthFigures(bytes, iterations, peak, average, swapDouble(own.millionMessagesPerSecond()));
    }

    private double swapDouble(double own) throws IOException {
        return Double.longBitsToDouble(swapLong(Double.doubleToRawLongBits(own)));
    }

    private long swapLong(long own) throws IOException {
        byte[] bytes = ByteBuffer.allocate(Long.BYTES).putLong(own).array();
        return ByteBuffer.wrap(swap(bytes, "figures")).getLong();
    }

    private byte[] swap(byte[] own, String what) throws IOException {
        socket.nextStep();
        if (client) {
            socket.write(own);
        }
        byte[] peers = socket.read(own.length, what);
        if (!client) {
            socket.write(own);
        }
        return peers;
    }

    /// Says goodbye after a test that both ends have confirmed. A C program closes without reading this, so
    /// its connection may be gone already.
    void sayDone() {
        try {
            socket.nextStep();
            socket.write(DONE);
            socket.read(DONE.length, "goodbye");
        } catch (IOException | CommandFailure _) {
            // Both ends have already confirmed the test.
        }
    }

    /// Waits until the peer has closed the connection, which confirms the end of `ib_write_lat`. Until then the
    /// peer may repeat its last WRITE, if the acknowledgment was lost.
    void awaitEnd() {
        try {
            socket.nextStep();
            socket.read(1, "end");
        } catch (IOException | CommandFailure _) {
            // The peer has closed the connection or is silent; this end has all that it needs.
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
