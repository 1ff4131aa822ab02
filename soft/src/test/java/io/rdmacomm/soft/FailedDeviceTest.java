package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.List;
import java.util.logging.Logger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The engine of a context has ended, which never happens by itself: what is there ends, and new work is refused.
class FailedDeviceTest {
    private final AddressEnd end = new AddressEnd();
    private final AddressEnd peer = new AddressEnd();
    private final Logger logger = Logger.getLogger(Engine.class.getName());
    private final QueuePair unconnected = end.domain.createQueuePair(QueuePairOptions.reliable(end.queue));

    /// Takes the engine's selector away while a message waits for a receive.
    @BeforeEach
    void endTheEngine() throws Exception {
        logger.setFilter(entry -> false);
        end.pair.connect(peer.pair.info());
        peer.pair.connect(end.pair.info());
        end.post(end.batch().send(1).with(end.region, 0, 8).signaled());
        Pipe pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        Soft.of(end.context)
                .engine()
                .register(
                        pipe.source(),
                        SelectionKey.OP_READ,
                        key -> key.selector().close());
        pipe.sink().write(ByteBuffer.allocate(1));
        AsyncEvent event = end.context.awaitAsyncEvent(AddressEnd.LONG);
        assertThat(event).isNotNull();
        assertThat(event.type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
        pipe.sink().close();
        pipe.source().close();
    }

    @AfterEach
    void close() {
        logger.setFilter(null);
        end.close();
        peer.close();
    }

    @Test
    void whatWasConnectedEndsAndWhatIsPostedIsFlushed() {
        assertThat(end.next().status()).isEqualTo(WorkStatus.FLUSHED);
        end.await(() -> end.pair.state() == QueuePairState.ERROR);
        end.post(end.batch().send(2).with(end.region, 0, 8).signaled());
        assertThat(end.statuses(1)).isEqualTo(List.of(WorkStatus.FLUSHED));
        end.pair.close();
    }

    @Test
    void newWorkIsRefused() {
        refused(() -> end.domain.createQueuePair(QueuePairOptions.reliable(end.queue)));
        refused(() -> unconnected.connect(peer.pair.info()));
        refused(() -> ConnectionManager.open(end.context));
        assertThat(unconnected.state()).isEqualTo(QueuePairState.RESET);
        unconnected.close();
    }

    private static void refused(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
                .hasMessageContaining("soft0 has failed");
    }
}
