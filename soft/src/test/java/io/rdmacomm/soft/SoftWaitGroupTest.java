package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

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
    private Engine engine;
    private SoftWaitGroup group;

    @BeforeEach
    void open() throws IOException {
        engine = new Engine("engine", () -> Long.MAX_VALUE, () -> {});
        group = new SoftWaitGroup(engine, "soft0", this::find);
    }

    @AfterEach
    void close() throws IOException {
        engine.close();
    }

    private SoftCompletionChannel channel(int number) {
        SoftCompletionChannel channel = new SoftCompletionChannel(engine, "soft0", number, _ -> {});
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

    private static final class Queue implements SoftCompletionChannel.Announcing {
        @Override
        public long handle() {
            return 7;
        }

        @Override
        public Arrivals arrivals() {
            throw new AssertionError("nobody waits at the queue");
        }
    }
}
