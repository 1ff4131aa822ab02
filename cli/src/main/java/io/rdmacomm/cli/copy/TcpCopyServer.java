package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.rig.ClientOrigin;
import io.rdmacomm.comm.exchange.Exchange;
import io.rdmacomm.comm.exchange.ExchangeServer;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/// Receives files over plain TCP sockets.
final class TcpCopyServer implements CopyServer {
    private final ListenOptions listen;
    private final CopyService service;
    private final ExchangeServer server;
    private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    /// Those that have a place.
    private final Set<Sender> senders = new HashSet<>();
    private boolean closed;

    private sealed interface Arrival {}

    /// A sender that has a place, until its end.
    private record Sender(Exchange exchange, ClientOrigin origin, RingSize wish, CountDownLatch end)
            implements Arrival {}

    /// No more senders arrive.
    private record Closed() implements Arrival {}

    TcpCopyServer(ListenOptions listen, CopyService service) {
        this.listen = listen;
        this.service = service;
        this.server = ExchangeServer.listen(listen.bind(), listen.port(), TcpLink.PROTOCOL, this::converse);
    }

    @Override
    public String line() {
        return listen.line(server.port());
    }

    /// Greets a sender, and waits until another thread has served it.
    private void converse(Exchange stranger) {
        RingSize wish;
        try {
            wish = TcpLink.greeting(stranger);
        } catch (CommandFailure _) {
            return; // It is not a sender, and has been notified.
        }
        Sender sender = new Sender(stranger, ClientOrigin.of(stranger.remoteAddress()), wish, new CountDownLatch(1));
        if (!takePlace(sender)) {
            if (isClosed()) {
                return;
            }
            stranger.refuse("the receiver serves " + CopyService.MOST_SENDERS + " senders already, or "
                    + CopyService.MOST_SENDERS_OF_AN_ADDRESS + " of this address; try again later");
            return;
        }
        try {
            sender.end().await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            leavePlace(sender);
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized boolean takePlace(Sender sender) {
        long same = senders.stream()
                .filter(other -> other.origin().equals(sender.origin()))
                .count();
        if (closed || senders.size() >= CopyService.MOST_SENDERS || same >= CopyService.MOST_SENDERS_OF_AN_ADDRESS) {
            return false;
        }
        return senders.add(sender) && arrivals.add(sender);
    }

    private synchronized void leavePlace(Sender sender) {
        senders.remove(sender);
    }

    @Override
    public int run(boolean once) {
        try {
            while (arrivals.take() instanceof Sender sender) {
                if (once) {
                    return serve(sender);
                }
                service.start("recv-tcp", () -> serve(sender), sender.end()::countDown);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    private int serve(Sender sender) {
        try {
            return service.serve(
                    sender.exchange().peer(), () -> TcpLink.accept(sender.exchange(), sender.wish(), service.memory()));
        } finally {
            sender.end().countDown();
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            // Also of those that are being served: a silent one must not delay the close.
            senders.forEach(sender -> sender.end().countDown());
        }
        arrivals.add(new Closed());
        server.close();
    }
}
