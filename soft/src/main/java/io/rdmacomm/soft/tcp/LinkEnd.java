package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import org.jspecify.annotations.Nullable;

/// Counts how a link ends, reports it to the queue pair, and keeps the reason as text. Under the queue pair's send
/// lock.
final class LinkEnd {
    private static final SafeLogger LOGGER = SafeLogger.of(LinkEnd.class);
    private static final int FLUSHED = WorkStatus.FLUSHED.code();

    private final Transport.Events events;
    private final LinkCounters counters;
    private final String link;
    private final boolean byAddress;
    private boolean over;
    private String reason = "this side has ended the connection";

    /// @param link as in log messages
    /// @param byAddress whether a connection manager has made the connection
    LinkEnd(Transport.Events events, LinkCounters counters, String link, boolean byAddress) {
        this.events = events;
        this.counters = counters;
        this.link = link;
        this.byAddress = byAddress;
    }

    /// Whether the end was reported to the queue pair.
    boolean isOver() {
        return over;
    }

    /// Why the connection has ended.
    String reason() {
        return reason;
    }

    /// The oldest request has failed.
    ///
    /// @param why what is known about it, or null
    void requestFailed(int status, int vendorError, @Nullable String why) {
        counters.requestFailed();
        String words = why != null ? why : "a request failed: " + WorkStatus.of(status);
        fail(status, vendorError, AsyncEventType.UNKNOWN, words);
    }

    /// A request of the peer was rejected: the responder enters the error state when it answers.
    void rejected(Refusal why) {
        counters.requestRefused();
        fail(FLUSHED, 0, why.event(), "what the peer sent was refused: " + why.code());
    }

    /// The connection is lost.
    void lost(WorkStatus status, int vendorError, String why) {
        counters.lost();
        // The end of a connection that was made by address is not a failure: its connection manager reports it.
        boolean expected = byAddress && status == WorkStatus.FLUSHED;
        AsyncEventType event = expected ? AsyncEventType.UNKNOWN : AsyncEventType.QUEUE_PAIR_FATAL;
        fail(status.code(), vendorError, event, why);
    }

    /// The peer's queue pair has ended in an orderly way.
    void closedByPeer() {
        counters.closed();
        if (byAddress) {
            fail(FLUSHED, 0, AsyncEventType.UNKNOWN, "the peer has ended the connection");
        } else {
            over = true;
            events.peerGone();
            LOGGER.log(System.Logger.Level.DEBUG, "{0}: closed by the peer", link);
        }
    }

    private void fail(int status, int vendorError, AsyncEventType event, String why) {
        over = true;
        reason = why;
        events.failed(status, vendorError, event);
        LOGGER.log(System.Logger.Level.DEBUG, "{0}: {1}", link, why);
    }
}
