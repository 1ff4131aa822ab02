package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.comm.setup.AcceptLoop;
import io.rdmacomm.comm.setup.Reception;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.comm.setup.TcpListener;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.service.Origin;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/// Receives files over plain TCP sockets. As at the port of a session, a peer that has not greeted yet costs
/// only its connection.
final class TcpCopyServer implements CopyServer {
    private static final int MOST_NEWCOMERS_OF_AN_ADDRESS = 256;
    private static final Duration GREETING = Duration.ofSeconds(5);

    private final ListenOptions listen;
    private final CopyService service;
    private final TcpListener listener;
    private final AcceptLoop<TcpConnector> acceptor;
    private final Reception reception = new Reception("recv-greet-", MOST_NEWCOMERS_OF_AN_ADDRESS, this::greet);
    private final Map<Origin, Integer> places = new HashMap<>();
    private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    private int taken;
    private volatile boolean closed;

    private sealed interface Arrival {}

    /// A sender that has a place.
    private record Sender(TcpConnector connector, RingSize wish) implements Arrival {}

    /// No more senders arrive.
    private record Closed() implements Arrival {}

    TcpCopyServer(ListenOptions listen, CopyService service) {
        this.listen = listen;
        this.service = service;
        this.listener = TcpListener.listen(listen.bind(), listen.port());
        // Wakes up the thread that waits for senders.
        this.acceptor =
                new AcceptLoop<>("recv-accept", listener::accept, reception::welcome, () -> arrivals.add(new Closed()));
        acceptor.start();
    }

    @Override
    public String line() {
        return listen.line(listener.port());
    }

    private Runnable greet(TcpConnector stranger) {
        boolean served = false;
        try {
            RingSize wish = TcpLink.greeting(stranger, GREETING);
            if (closed) {
                return () -> {};
            }
            if (takePlace(Origin.of(stranger.remoteAddress()))) {
                served = arrivals.add(new Sender(stranger, wish));
            } else {
                stranger.refuse("the receiver serves " + CopyService.MOST_SENDERS + " senders already, or "
                        + CopyService.MOST_SENDERS_OF_AN_ADDRESS + " of this address; try again later");
            }
        } catch (RdmaException | CommandFailure _) {
            // The peer is not a sender, or silent; it has been notified.
        } finally {
            if (!served) {
                stranger.close();
            }
        }
        return () -> {};
    }

    private synchronized boolean takePlace(Origin origin) {
        int same = places.getOrDefault(origin, 0);
        if (taken >= CopyService.MOST_SENDERS || same >= CopyService.MOST_SENDERS_OF_AN_ADDRESS) {
            return false;
        }
        taken++;
        places.put(origin, same + 1);
        return true;
    }

    private synchronized void leavePlace(Origin origin) {
        taken--;
        var _ = places.computeIfPresent(origin, (_, count) -> count == 1 ? null : count - 1);
    }

    @Override
    public int run(boolean once) {
        try {
            while (arrivals.take() instanceof Sender sender) {
                if (once) {
                    return serve(sender);
                }
                service.start("recv-tcp", () -> serve(sender), () -> release(sender));
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    private int serve(Sender sender) {
        try {
            return service.serve(
                    sender.connector().peer(),
                    () -> TcpLink.accept(sender.connector(), sender.wish(), service.memory()));
        } finally {
            release(sender);
        }
    }

    private void release(Sender sender) {
        sender.connector().close();
        leavePlace(Origin.of(sender.connector().remoteAddress()));
    }

    @Override
    public void close() {
        closed = true;
        listener.close();
        acceptor.join();
        reception.close();
        arrivals.add(new Closed());
    }
}
