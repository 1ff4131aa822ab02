package io.rdmacomm.examples;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;

/// A table that a server writes and its clients read. A client on the same host reads it through a direct view, at the
/// speed of memory; any other client reads it with READ. Read [QuoteRow] first.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.QuoteBoard [READS]
/// ```
public final class QuoteBoard {
    private static final int ROWS = 100;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private QuoteBoard() {}

    /// Runs the server and one client.
    public static void main(String[] arguments) throws Exception {
        int reads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000_000;
        SessionOptions options = SessionOptions.defaults().withAddress("localhost", 0);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
            RdmaBuffer table = server.allocate("quotes", QuoteRow.BYTES, ROWS);
            server.accept(TIMEOUT).announce(table, Set.of(AccessFlag.REMOTE_READ, AccessFlag.DIRECT_VIEW));
            Thread writer = Thread.ofPlatform().daemon().start(() -> {
                for (long version = 1; !Thread.currentThread().isInterrupted(); version++) {
                    int row = (int) (version % ROWS);
                    new QuoteRow(table.block(row).segment()).write(version, version + 1);
                }
            });
            try {
                read(client.endPoint(), reads);
            } finally {
                writer.interrupt();
                writer.join();
            }
        }
    }

    private static void read(EndPoint server, int reads) {
        RemoteBuffer remote = server.peerBuffer("quotes", TIMEOUT);
        MemorySegment view = server.directView(remote);
        if (view == null) {
            System.out.println("The server is on another host, or its device has no views; use READ there.");
            return;
        }
        QuoteRow[] rows = new QuoteRow[ROWS];
        for (int i = 0; i < ROWS; i++) {
            rows[i] = new QuoteRow(view.asSlice((long) i * QuoteRow.BYTES, QuoteRow.BYTES));
        }
        long begin = System.nanoTime();
        for (int i = 0; i < reads; i++) {
            QuoteRow row = rows[i % ROWS];
            if (!row.read()) {
                throw new IllegalStateException("the writer is stopped, or dead");
            }
            if (row.bid() > 0 && row.ask() != row.bid() + 1) {
                throw new IllegalStateException("a mixture of two versions: " + row.bid() + " and " + row.ask());
            }
        }
        System.out.printf("%d quotes read, %d ns each%n", reads, (System.nanoTime() - begin) / reads);
    }
}
