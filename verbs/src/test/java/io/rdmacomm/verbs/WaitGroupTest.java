package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Behavior of wait groups that is common to all providers.
class WaitGroupTest {
    private final NullDrivers device = new NullDrivers();
    private Context context;
    private CompletionChannel channel;
    private WaitGroup group;

    @BeforeEach
    void open() {
        context = Device.of(device).open();
        channel = context.createCompletionChannel();
        group = WaitGroup.create(context);
    }

    @AfterEach
    void close() {
        context.close();
        assertThat(device.members).isEmpty();
    }

    @Test
    void aChannelIsAMemberOnce() {
        group.add(channel);
        group.add(channel);
        assertThat(device.members).containsExactly(channel.driver().handle());
        group.remove(channel);
        group.remove(channel);
        assertThat(device.members).isEmpty();
    }

    @Test
    void aClosedChannelLeavesItsGroups() {
        WaitGroup other = WaitGroup.create(context);
        group.add(channel);
        other.add(channel);
        channel.close();
        assertThat(device.members).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(() -> group.add(channel))
                .withMessageContaining("completion channel on null0 is closed");
        assertThat(device.members).isEmpty();
    }

    @Test
    void aClosedGroupHasNoMembers() {
        group.add(channel);
        group.close();
        group.close();
        assertThat(device.members).isEmpty();
        group.remove(channel);
        group.wakeUp();
        assertThatIllegalStateException()
                .isThrownBy(() -> group.add(channel))
                .withMessageContaining("wait group on null0 is closed");
        assertThatIllegalStateException().isThrownBy(() -> group.await(Duration.ZERO));
        channel.close();
    }

    /// The thread that closes the channel waits until it has left the group.
    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aChannelIsNotClosedWhileItLeaves() throws InterruptedException {
        AtomicReference<Thread> closing = new AtomicReference<>();
        AtomicBoolean closed = new AtomicBoolean();
        group.add(channel);
        device.onLeave = () -> {
            if (closing.get() == null) {
                Thread closer = Thread.ofPlatform().start(channel::close);
                closing.set(closer);
                while (!isWaiting(closer) && closer.isAlive()) {
                    Thread.onSpinWait();
                }
                closed.set(device.closedChannels.contains(channel.driver().handle()));
            }
        };
        group.remove(channel);
        closing.get().join();
        assertThat(closed).isFalse();
        assertThat(device.closedChannels).contains(channel.driver().handle());
        assertThat(device.members).isEmpty();
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.BLOCKED || thread.getState() == Thread.State.WAITING;
    }

    @Test
    void aChannelThatCannotLeaveIsForgotten() {
        CompletionChannel other = context.createCompletionChannel();
        group.add(channel);
        group.add(other);
        device.onLeave = () -> {
            throw new IllegalStateException("the device has forgotten the channel");
        };
        group.remove(channel);
        device.events.add(channel.driver().handle());
        assertThat(group.await(Duration.ofSeconds(1))).isNull();
        other.close();
        group.close();
        channel.close();
        assertThat(device.closedChannels)
                .containsExactlyInAnyOrder(
                        channel.driver().handle(), other.driver().handle());
        device.members.clear();
    }

    @Test
    void oneChannelThatCannotLeaveKeepsNoOtherInAGroupThatIsClosed() {
        CompletionChannel other = context.createCompletionChannel();
        group.add(channel);
        group.add(other);
        device.onLeave = () -> {
            device.onLeave = () -> {};
            throw new IllegalStateException("the device has forgotten the channel");
        };
        group.close();
        assertThat(device.members).hasSize(1);
        device.members.clear();
    }

    @Test
    void onlyMembersAreReported() {
        CompletionChannel gone = context.createCompletionChannel();
        group.add(gone);
        group.add(channel);
        group.remove(gone);
        device.events.add(gone.driver().handle());
        device.events.add(channel.driver().handle());
        assertThat(group.await(Duration.ofSeconds(1))).isSameAs(channel);
        assertThat(group.await(Duration.ofSeconds(1))).isNull();
    }

    @Test
    void theChannelsOfAGroupBelongToOneContext() {
        try (Context second = Device.of(new NullDrivers()).open()) {
            CompletionChannel foreign = second.createCompletionChannel();
            assertThatThrownBy(() -> group.add(foreign))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContainingAll("EINVAL", "belongs to another context");
        }
    }
}
