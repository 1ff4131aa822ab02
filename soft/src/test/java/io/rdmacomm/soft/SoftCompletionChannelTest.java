package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.tcp.LinkPoller;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.Engine;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Wake-ups that come while a thread is on its way to the sockets of its links. Another thread that polls meanwhile
/// selects at the same selector, which uses up the wake-up of that selector.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SoftCompletionChannelTest {
    private static final long FOR_GOOD = TimeUnit.DAYS.toNanos(1);
    private static final long HANDLE = 7;

    private ShmDirectory directory;
    private ControlFile control;
    private LinkPoller links;
    private Engine engine;
    private SoftCompletionChannel channel;

    @BeforeEach
    void open() throws IOException {
        directory = ShmDirectory.claim();
        control = ControlFile.create(directory, 1, 2);
        links = new LinkPoller(CompletionRing.create(control, 4, 7, true));
        engine = new Engine("engine", () -> Long.MAX_VALUE, () -> {});
        channel = new SoftCompletionChannel(engine, new Bells(control, () -> {}), "soft0", 1, number -> {});
    }

    @AfterEach
    void close() throws IOException {
        links.close();
        engine.close();
        control.close();
        directory.close();
    }

    /// The only queue of the channel; `meanwhile` happens when a thread looks for its links in order to wait there,
    /// and a poll follows.
    private QueueBell.Ringing queue(Runnable meanwhile) {
        return new QueueBell.Ringing() {
            @Override
            public long handle() {
                return HANDLE;
            }

            @Override
            public Arrivals arrivals() {
                return new Links(meanwhile);
            }

            @Override
            public void announceIfDisarmed() {
                // Nobody arms it.
            }

            @Override
            public void disarm() {
                // Nobody arms it.
            }
        };
    }

    /// The links, with something that happens when a thread asks for them.
    private final class Links implements Arrivals {
        private final Runnable meanwhile;

        Links(Runnable meanwhile) {
            this.meanwhile = meanwhile;
        }

        @Override
        public boolean areFromNetwork() {
            return true;
        }

        @Override
        public boolean receive() {
            links.drive();
            return true;
        }

        @Override
        public void armed(boolean leads) {
            // The thread waits at the links.
        }

        @Override
        public Place place() {
            meanwhile.run();
            links.wakeUp();
            links.drive();
            return links;
        }

        @Override
        public void close() {
            // The test closes them.
        }
    }

    @Test
    void aPollKeepsNoWakeUpFromTheThreadThatWaits() throws InterruptedException {
        channel.add(queue(channel::wakeUp));
        assertThat(channel.awaitEvent(FOR_GOOD)).isZero();
    }

    @Test
    void aPollKeepsNoAnnouncementFromTheThreadThatWaits() throws InterruptedException {
        channel.add(queue(() -> channel.announce(queue(() -> {}))));
        assertThat(channel.awaitEvent(FOR_GOOD)).isEqualTo(HANDLE);
    }

    @Test
    void aPollKeepsNoEndFromTheThreadThatWaits() throws InterruptedException {
        channel.add(queue(channel::closing));
        assertThat(channel.awaitEvent(FOR_GOOD)).isZero();
    }
}
