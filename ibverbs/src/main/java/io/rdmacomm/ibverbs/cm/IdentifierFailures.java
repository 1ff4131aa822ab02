package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.AddressUnresolvedException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.DeviceRemovedException;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import io.rdmacomm.verbs.cm.RouteUnresolvedException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Turns an unexpected event, or the lack of one, into an exception of the matching type.
final class IdentifierFailures {
    /// No program listens at the port (`IB_CM_REJ_INVALID_SERVICE_ID`, InfiniBand specification 12.6.7.2).
    private static final int REASON_NOBODY_LISTENS = 8;
    /// The program rejected the request (`IB_CM_REJ_CONSUMER_DEFINED`).
    private static final int REASON_PROGRAM = 28;

    /// No program listens at the port of a datagram service (`IB_SIDR_UNSUPPORTED`).
    private static final int STATUS_NOBODY_LISTENS = 1;
    /// The program rejected the request for a datagram service (`IB_SIDR_REJECT`).
    private static final int STATUS_REJECTED = 2;

    private IdentifierFailures() {}

    /// The exception for an event that ends a call.
    ///
    /// @param event the event; null after a timeout
    /// @param peer the destination, for the message
    static RdmaException of(String operation, @Nullable IdentifierEvent event, String peer, long timeoutNanos) {
        if (event == null) {
            return new DeadlineException(
                    operation + ": " + peer + " did not answer within "
                            + Duration.ofNanos(timeoutNanos).toMillis() + " ms; check that it runs, or wait longer",
                    null);
        }
        Errno errno = errno(event);
        return switch (event.type()) {
            case ADDRESS_ERROR ->
                new AddressUnresolvedException(
                        operation, errno, peer + " has no address on the link; check that the host is up");
            case ROUTE_ERROR ->
                new RouteUnresolvedException(operation, errno, "there is no route to " + peer + "; check the network");
            case UNREACHABLE ->
                new PeerUnreachableException(operation, errno, peer + " does not answer; check that it is up");
            case REJECTED ->
                new ConnectionRejectedException(operation, peer + " " + refusal(event.status()), event.privateData());
            case DEVICE_REMOVAL ->
                new DeviceRemovedException(operation, Errno.ENODEV, "the device went away; see `rdma link`");
            default -> failed(operation, event, peer);
        };
    }

    /// The exception for an event that ends accepting: whatever the event, the peer is gone.
    static RdmaException ofAccepting(
            String operation, @Nullable IdentifierEvent event, String peer, long timeoutNanos) {
        if (event == null || event.type() == ConnectionEvent.DEVICE_REMOVAL) {
            return of(operation, event, peer, timeoutNanos);
        }
        return failed(operation, event, peer);
    }

    /// The exception for an event that ends looking up a datagram service. A negative answer is an event of type
    /// UNREACHABLE whose status gives the reason (`enum ib_cm_sidr_status`, `cma_sidr_rep_handler`).
    static RdmaException ofLookingUp(
            String operation, @Nullable IdentifierEvent event, String peer, long timeoutNanos) {
        if (event == null || event.type() != ConnectionEvent.UNREACHABLE || event.status() <= 0) {
            return of(operation, event, peer, timeoutNanos);
        }
        String why = switch (event.status()) {
            case STATUS_NOBODY_LISTENS -> "no program listens for datagram requests there";
            case STATUS_REJECTED -> "its program declined it";
            default -> "status " + event.status();
        };
        return new ConnectionRejectedException(operation, peer + " rejected the request: " + why, event.privateData());
    }

    /// The exception for an event that ends joining a multicast group.
    static RdmaException ofJoining(String operation, @Nullable IdentifierEvent event, String group, long timeoutNanos) {
        if (event == null) {
            return new DeadlineException(
                    operation + ": the network did not confirm the membership in " + group + " within "
                            + Duration.ofNanos(timeoutNanos).toMillis()
                            + " ms; check the subnet manager, or wait longer",
                    null);
        }
        if (event.type() == ConnectionEvent.DEVICE_REMOVAL) {
            return of(operation, event, group, timeoutNanos);
        }
        return IbvFailure.of(operation, Math.abs(event.status()), group);
    }

    private static ConnectFailedException failed(String operation, IdentifierEvent event, String peer) {
        return new ConnectFailedException(
                operation,
                errno(event),
                peer + " went away while connecting: " + event.type() + " (status " + event.status() + ")");
    }

    /// The exception for rdma_connect(3) itself: siw connects in it, and returns the errno of connect(2).
    static VerbException ofConnecting(String operation, int errno, String peer) {
        Errno known = Errno.of(errno);
        return switch (known) {
            case ECONNREFUSED ->
                new ConnectionRejectedException(operation, peer + ": no program listens there", new byte[0]);
            case ETIMEDOUT, EHOSTUNREACH, ENETUNREACH ->
                new PeerUnreachableException(operation, known, peer + " does not answer; check that it is up");
            case ECONNRESET -> new ConnectFailedException(operation, known, peer + " closed the connection at once");
            default -> IbvFailure.of(operation, errno, peer);
        };
    }

    private static String refusal(int status) {
        if (status == REASON_NOBODY_LISTENS || status == -Errno.ECONNREFUSED.number()) {
            return "rejected the connection: no program listens there";
        }
        if (status == REASON_PROGRAM || status == -Errno.ECONNRESET.number()) {
            return "rejected the connection: its program declined it";
        }
        return "rejected the connection (reason " + status + ")";
    }

    /// A status is 0 or a negative errno, except for a rejection on InfiniBand.
    private static Errno errno(IdentifierEvent event) {
        return Errno.of(Math.abs(event.status()));
    }
}
