package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.spi.SendRequest;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Transport over one TCP connection: keeps requests in the [RequestQueue] until the peer has acknowledged them,
/// and has the [Link] send them.
public final class TcpTransport implements Transport {
    private static final SafeLogger LOGGER = SafeLogger.of(TcpTransport.class);

    private final RequestQueue sends;
    private final LingeringClose closing;
    private final TrafficCounters traffic;
    private final SocketChannel channel;
    private final LinkTerms terms;
    private final Link link;
    private final LinkDriver driver;
    private final @Nullable Consumer<String> onEnd;
    private boolean stopped;

    /// Takes over a connection whose terms are agreed on.
    ///
    /// @param pollsSends the links of the completion queue of sends
    /// @param pollsReceives the links of the completion queue of receives
    /// @param channel not blocking
    /// @param onEnd called once with the reason why the connection has ended, if a connection manager has made it;
    ///         else null
    TcpTransport(
            QueuePairResources queuePair,
            LinkContext context,
            LinkPoller pollsSends,
            LinkPoller pollsReceives,
            SocketChannel channel,
            LinkTerms terms,
            @Nullable Consumer<String> onEnd) {
        this.sends = queuePair.sends();
        this.closing = context.closing();
        this.traffic = context.traffic();
        this.channel = channel;
        this.terms = terms;
        this.onEnd = onEnd;
        this.link = new Link(
                queuePair, context.memory(), context.counters(), context.onLimit(), channel, terms, onEnd != null);
        this.driver = new LinkDriver(
                link, queuePair.lock(), queuePair.retries(), pollsSends, pollsReceives, context.engineLinks());
    }

    /// Starts driving the link, on the threads that poll and on the engine.
    ///
    /// @throws IOException if the connection is no longer usable; it is closed then
    void open() throws IOException {
        traffic.begin(link);
        try {
            driver.open();
        } catch (IOException | RuntimeException | Error e) {
            stop(false);
            throw e;
        }
    }

    /// The requests that the peer does not understand.
    Set<SendOpcode> missing() {
        return terms.missing();
    }

    /// Decides which thread drives the link.
    public LinkDriver driver() {
        return driver;
    }

    @Override
    public int post(SendRequest[] requests, int first, int end) {
        int kept = sends.add(requests, first, end) - first;
        driver.post();
        return kept;
    }

    @Override
    public void resume() {
        driver.resume();
    }

    @Override
    public boolean isAgreed() {
        return true;
    }

    @Override
    public boolean isDrained() {
        return !link.isWaiting();
    }

    @Override
    public boolean isIdle() {
        return sends.isEmpty() && link.isQuiet();
    }

    @Override
    public void stop(boolean orderly) {
        if (stopped) {
            return;
        }
        stopped = true;
        link.giveBackReceive();
        try {
            driver.close();
        } catch (RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> this + " could not be removed from its completion queues", e);
        }
        closing.close(channel, link.close(orderly));
        traffic.end(link);
        if (onEnd != null) {
            onEnd.accept(link.end());
        }
    }

    @Override
    public void close() {
        stop(true);
    }

    @Override
    public String toString() {
        return link.toString();
    }
}
