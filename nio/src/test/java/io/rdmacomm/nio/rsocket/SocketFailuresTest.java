package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Programs compare the classes and the texts of these exceptions.
class SocketFailuresTest {
    private static void assertLike(IOException expected, IOException actual, Throwable cause) {
        assertThat(actual)
                .hasSameClassAs(expected)
                .hasMessage(expected.getMessage())
                .hasCause(cause);
    }

    @Test
    void aReaderSeesTheExceptionsOfTheJdk() {
        IOException reason = new IOException("the queue pair has failed");

        assertLike(new SocketException("Connection reset"), SocketFailures.ofRead(reason, false), reason);
        assertLike(new IOException("Connection timed out"), SocketFailures.ofRead(reason, true), reason);
    }

    @Test
    void anAttemptToConnectEndsAsWithTheJdk() {
        Map<Errno, IOException> expected = Map.of(
                Errno.ECONNREFUSED, new ConnectException("Connection refused"),
                Errno.ETIMEDOUT, new ConnectException("Connection timed out"),
                Errno.EHOSTUNREACH, new NoRouteToHostException("No route to host"),
                Errno.ENETUNREACH, new SocketException("Network is unreachable"),
                Errno.ECONNRESET, new SocketException("Connection reset by peer"),
                Errno.EADDRINUSE, new BindException("Address already in use"),
                Errno.EADDRNOTAVAIL, new BindException("Cannot assign requested address"));
        expected.forEach((errno, like) -> {
            VerbException cause = new ConnectFailedException("connect", errno, "a test");

            assertLike(like, SocketFailures.ofConnecting(cause), cause);
        });
    }

    @Test
    void aFailureThatTheJdkDoesNotHaveSaysWhatToDo() {
        VerbException cause = new VerbException("connect", Errno.ENOBUFS, "raise the limit");

        assertThat(SocketFailures.ofConnecting(cause))
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("raise the limit")
                .hasCause(cause);
    }

    @Test
    void aTimeoutIsThatOfTheJdk() {
        DeadlineException cause = new DeadlineException("no answer", null);

        assertLike(new ConnectException("Connection timed out"), SocketFailures.ofConnecting(cause), cause);
    }
}
