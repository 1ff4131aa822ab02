package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import org.jspecify.annotations.Nullable;

/// Translates failures of a device to the exceptions of the JDK's channels. Programs compare their classes and
/// texts, so the actual reason is the cause.
public final class SocketFailures {
    static final String TIMED_OUT = "Connection timed out";

    private SocketFailures() {}

    /// The message of a failure and of its cause.
    public static String reason(Throwable failure) {
        Throwable cause = failure.getCause();
        String reason = cause == null ? null : cause.getMessage();
        return failure.getMessage() + (reason == null ? "" : ": " + reason);
    }

    /// The exception of a reader.
    static IOException ofRead(IOException reason, boolean timedOut) {
        return timedOut ? new IOException(TIMED_OUT, reason) : because(new SocketException("Connection reset"), reason);
    }

    /// The exception of a call that listens.
    static SocketException ofListening(VerbException cause) {
        BindException bind = ofAddress(cause.errno());
        return because(bind != null ? bind : new SocketException(cause.getMessage()), cause);
    }

    /// The exception of an attempt to connect.
    static SocketException ofConnecting(VerbException cause) {
        BindException bind = ofAddress(cause.errno());
        if (bind != null) {
            return because(bind, cause);
        }
        // No program compares the text of this one, so it can say what to do.
        return because(
                cause instanceof ConnectionException
                        ? ofConnection(cause.errno())
                        : new ConnectException(cause.getMessage()),
                cause);
    }

    /// The exception of an attempt to connect that timed out.
    static SocketException ofConnecting(DeadlineException cause) {
        return because(new ConnectException(TIMED_OUT), cause);
    }

    private static @Nullable BindException ofAddress(Errno errno) {
        if (errno.equals(Errno.EADDRINUSE)) {
            return new BindException("Address already in use");
        }
        return errno.equals(Errno.EADDRNOTAVAIL) ? new BindException("Cannot assign requested address") : null;
    }

    private static SocketException ofConnection(Errno errno) {
        if (errno.equals(Errno.EHOSTUNREACH)) {
            return new NoRouteToHostException("No route to host");
        }
        if (errno.equals(Errno.ENETUNREACH)) {
            return new SocketException("Network is unreachable");
        }
        if (errno.equals(Errno.ECONNRESET)) {
            return new SocketException("Connection reset by peer");
        }
        return new ConnectException(errno.equals(Errno.ETIMEDOUT) ? TIMED_OUT : "Connection refused");
    }

    private static <E extends IOException> E because(E exception, Throwable cause) {
        exception.initCause(cause);
        return exception;
    }
}
