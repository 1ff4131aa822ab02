package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/// The server of rping(1); the steps are drawn at [RpingClient]. Which of the two buffers a message means follows
/// from the turn alone.
public final class RpingServer implements ConnectionService {
    private static final MemorySegment GO_AHEAD =
            MemorySegment.ofArray(new byte[RpingAdvert.BYTES]).asReadOnly();

    private final Duration patience;
    private final Consumer<String> data;

    private RpingServer(Duration patience, Consumer<String> data) {
        this.patience = patience;
        this.data = data;
    }

    /// Listens.
    ///
    /// @param address where; port 0 takes a free one
    /// @param patience how long to wait for a client, at each step
    /// @param data is told the text of each ping, as rping(1) does with -v
    public static ConnectionServer listen(
            ConnectionManager manager, InetSocketAddress address, Duration patience, Consumer<String> data) {
        return new ConnectionServer(manager, address, new RpingServer(patience, data));
    }

    @Override
    public String serve(ConnectionRequest request) throws InterruptedException {
        long pings = 0;
        try (Conversation client = Conversation.accept(request, RpingClient.PARAMETERS, patience)) {
            // Large enough for whatever size the client has; the C program needs the same -S on both sides.
            MemoryRegion text = client.allocate(RpingText.MAX_BYTES, RpingClient.ACCESS);
            while (answer(client, text)) {
                pings++;
            }
        }
        return pings + " pings served";
    }

    /// Answers the next ping; false when the client has gone.
    private boolean answer(Conversation client, MemoryRegion text) throws InterruptedException {
        MemorySegment message = client.awaitMessage();
        if (message == null) {
            return false;
        }
        RpingAdvert from = RpingAdvert.decode(message);
        checkSize(from);
        client.read(text, from.size(), from.address(), from.key());
        MemorySegment content = text.segment().asSlice(0, from.size());
        data.accept("server ping data: " + RpingText.text(content));
        client.postReceive();
        if (!client.send(GO_AHEAD)) {
            throw new CommandFailure("the client went away in the middle of a ping");
        }
        RpingAdvert to = RpingAdvert.decode(client.expectMessage());
        long length = RpingText.length(content);
        if (Integer.toUnsignedLong(to.size()) < length) {
            throw new CommandFailure("the client wants " + length + " bytes in a buffer of "
                    + Integer.toUnsignedString(to.size()) + ": it speaks another protocol than rping");
        }
        client.write(text, length, to.address(), to.key());
        client.postReceive();
        // The client may be content with that and go at once, so whether the SEND was acknowledged does not matter.
        client.send(GO_AHEAD);
        return true;
    }

    private static void checkSize(RpingAdvert advert) {
        if (advert.size() < 1 || advert.size() > RpingText.MAX_BYTES) {
            throw new CommandFailure("the client offers a text of " + Integer.toUnsignedString(advert.size())
                    + " bytes where rping has 1 to " + RpingText.MAX_BYTES + ": it speaks another protocol");
        }
    }
}
