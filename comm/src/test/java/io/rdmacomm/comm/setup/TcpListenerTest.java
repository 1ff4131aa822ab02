package io.rdmacomm.comm.setup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class TcpListenerTest {
    private static void acceptUntilClosed(TcpListener listener) {
        try {
            assertThat(listener.accept()).isNull();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void thePortIsFreeWhenCloseReturns() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            TcpListener listener = TcpListener.listen("127.0.0.1", 0);
            Thread acceptor = Thread.ofVirtual().start(() -> acceptUntilClosed(listener));
            while (acceptor.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }

            listener.close();

            TcpListener.listen("127.0.0.1", listener.port()).close();
            acceptor.join();
        }
    }
}
