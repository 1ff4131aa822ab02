package io.rdmacomm.comm;

import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.comm.endpoint.ErrorEvent;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/// Translates failures of lower layers into exceptions.
final class Failures {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(Failures.class);

    private Failures() {}

    /// The public exception for a failed setup. It has the stack and the cause of the original.
    static RdmaException ofSetup(SetupException failure) {
        String message = failure.getMessage();
        Throwable cause = failure.getCause();
        RdmaException same = switch (failure.reason()) {
            case PEER_CLOSED -> PeerFailedException.gone(message, cause);
            case DEADLINE_PASSED -> new DeadlineException(message, cause);
            case CLOSED -> new ClosedException(message, cause);
            case INTERRUPTED -> new RdmaInterruptedException(message, cause);
            default -> new SetupFailedException(Reason.valueOf(failure.reason().name()), message, cause);
        };
        same.setStackTrace(failure.getStackTrace());
        return same;
    }

    /// The exception for an interrupt of the calling thread, which stays interrupted.
    static RdmaInterruptedException interrupted(String meanwhile, InterruptedException cause) {
        return new RdmaInterruptedException("interrupted while " + meanwhile, cause);
    }

    /// The exception for `close()` in a handler, which would wait for that handler.
    static IllegalStateException closedInHandler(Object what) {
        return new IllegalStateException(
                "close() of " + what + " in a handler would wait for the handler; call closeLater() there");
    }

    static OperationException operation(
            String channel, String what, WorkStatus status, int vendorError, @Nullable RdmaException cause) {
        String vendor = vendorError == 0 ? "" : " (vendor error 0x" + Integer.toHexString(vendorError) + ")";
        return new OperationException(
                what + " on " + channel + " failed: " + status + vendor + ", " + hint(what, status, cause),
                status,
                vendorError,
                cause);
    }

    /// Logs the failure of an endpoint without a listener.
    static void log(Object endPoint, RdmaException why) {
        LOGGER.log(Level.WARNING, endPoint + " failed: " + why.getMessage());
    }

    /// Reports to the flight recorder, if it is active. Otherwise, this must not load the event class: loading the
    /// first one costs a tenth of a second of setup that only a recording needs.
    static void record(String endPoint, Throwable why) {
        if (FlightRecorder.isInitialized()) {
            ErrorEvent.report(endPoint, why);
        }
    }

    /// The failure of an endpoint after failed work. A dead peer causes the same failure whether the setup
    /// connection or the queue pair detects it first.
    ///
    /// @param why the device's reason for the end of the connection, or null
    static RdmaException ofEndPoint(
            String channel, String what, WorkStatus status, int vendorError, @Nullable String why) {
        return switch (status) {
            case FLUSHED ->
                PeerFailedException.gone(channel + " has lost its connection" + (why == null ? "" : ": " + why), null);
            case RETRY_EXCEEDED ->
                PeerFailedException.gone(
                        operation(channel, what, status, vendorError, null).getMessage(), null);
            default -> operation(channel, what, status, vendorError, null);
        };
    }

    private static String hint(String what, WorkStatus status, @Nullable RdmaException cause) {
        return switch (status) {
            case FLUSHED -> cause == null ? "the channel ended before it did" : cause.getMessage();
            case REMOTE_ACCESS_ERROR ->
                isMessage(what)
                        ? "the peer could not put it into the memory of its receive"
                        : "the peer's buffer is closed, too small, or does not grant that right";
            case REMOTE_INVALID_REQUEST ->
                isMessage(what)
                        ? "the peer's receive is too small for it, or its queue pair does not allow it"
                        : "the peer's queue pair does not allow it";
            case REMOTE_OPERATION_ERROR -> "the peer could not carry it out";
            case LOCAL_PROTECTION_ERROR -> "the local buffer was closed, or does not grant that right";
            case LOCAL_LENGTH_ERROR -> "the message is longer than the receive";
            case RETRY_EXCEEDED -> "the peer does not answer: it is dead, or the network is broken";
            case RECEIVER_NOT_READY_EXCEEDED -> "the peer had no receive";
            default -> "the queue pair has failed";
        };
    }

    private static boolean isMessage(String what) {
        return what.equals(Operation.name(Operation.SEND)) || what.equals(Operation.name(Operation.SEND_TAGGED));
    }
}
