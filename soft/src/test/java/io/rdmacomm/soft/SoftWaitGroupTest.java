package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Channels that leave a group after the device has forgotten them.
class SoftWaitGroupTest {
    private final Set<CompletionChannelDriver> open = new HashSet<>();
    private ShmDirectory directory;
    private ControlFile control;
    private Bells bells;
    private Engine engine;
    private SoftWaitGroup group;

    @BeforeEach
    void open() throws IOException {
        directory = ShmDirectory.claim();
        control = ControlFile.create(directory, 1, 2);
        bells = new Bells(control, () -> {});
        engine = new Engine("engine", () -> Long.MAX_VALUE, () -> {});
        group = new SoftWaitGroup(engine, bells, null, "soft0", this::find);
    }

    @AfterEach
    void close() throws IOException {
        engine.close();
        control.close();
        directory.close();
    }

    private SoftCompletionChannel channel(int number) {
        SoftCompletionChannel channel = new SoftCompletionChannel(engine, bells, "soft0", number, _ -> {});
        open.add(channel);
        return channel;
    }

    private SoftCompletionChannel find(CompletionChannelDriver driver) {
        if (!open.contains(driver)) {
            throw new IllegalStateException(driver + " is closed");
        }
        return (SoftCompletionChannel) driver;
    }

    @Test
    void aChannelThatWasClosedCanLeave() throws InterruptedException {
        SoftCompletionChannel closed = channel(1);
        SoftCompletionChannel other = channel(2);
        group.add(closed);
        group.add(other);
        open.remove(closed);
        group.remove(closed);
        group.remove(closed);
        closed.announce(new Queue());
        assertThat(group.await(0)).isZero();
        other.announce(new Queue());
        assertThat(group.await(0)).isEqualTo(2);
    }

    private static final class Queue implements QueueBell.Ringing {
        @Override
        public long handle() {
            return 7;
        }

        @Override
        public Arrivals arrivals() {
            throw new AssertionError("nobody waits at the queue");
        }

        @Override
        public void announceIfDisarmed() {
            throw new AssertionError("it has no bell");
        }

        @Override
        public void disarm() {
            throw new AssertionError("it has no bell");
        }
    }
}
