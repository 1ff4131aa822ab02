package io.rdmacomm.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.rsocket.Readiness;
import io.rdmacomm.nio.rsocket.RsConnection;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Channels that fail inside a selector. Each costs itself only.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RdmaSelectorTest {
    private final RdmaSelector selector = new RdmaSelector(SelectorProvider.provider());
    private final TestChannel failing = new TestChannel();
    private final TestChannel sound = new TestChannel();

    @BeforeEach
    void register() throws IOException {
        for (TestChannel channel : new TestChannel[] {failing, sound}) {
            var _ = channel.configureBlocking(false);
            var _ = channel.register(selector, SelectionKey.OP_READ);
        }
    }

    @AfterEach
    void close() throws IOException {
        selector.close();
        failing.close();
        sound.close();
    }

    /// Cancelled keys are a set, so the failing one is the first of some of them.
    @Test
    void aKeyThatCannotBeRemovedLeavesAndKeepsNoOther() throws IOException {
        failing.failsToLeave = true;
        failing.close();
        sound.close();
        assertThat(selector.selectNow()).isZero();
        assertThat(selector.keys()).isEmpty();
        assertThat(failing.isRegistered()).isFalse();
        assertThat(sound.isRegistered()).isFalse();
        assertThat(selector.selectNow()).isZero();
    }

    @Test
    void aKeyThatCannotBeRemovedKeepsNoOtherInASelectorThatIsClosed() throws IOException {
        failing.failsToLeave = true;
        selector.close();
        assertThat(failing.isRegistered()).isFalse();
        assertThat(sound.isRegistered()).isFalse();
    }

    /// As after an error of poll(2): the program finds it when it uses the channel.
    @Test
    void aChannelThatCannotBePolledIsReady() throws IOException {
        failing.failsToPoll = true;
        sound.ready = SelectionKey.OP_READ;
        failing.listener.changed();
        sound.listener.changed();
        assertThat(selector.select()).isEqualTo(2);
        assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(failing.keyFor(selector), sound.keyFor(selector));
    }

    /// A channel without a connection.
    private static final class TestChannel extends AbstractSelectableChannel implements SelectableRdma {
        private Readiness listener = () -> {};
        private int ready;
        private boolean failsToLeave;
        private boolean failsToPoll;

        TestChannel() {
            super(SelectorProvider.provider());
        }

        @Override
        public int validOps() {
            return SelectionKey.OP_READ;
        }

        @Override
        public int poll() {
            if (failsToPoll) {
                throw new IllegalStateException("cannot be polled");
            }
            return ready;
        }

        @Override
        public int arm() {
            return poll();
        }

        @Override
        public @Nullable RsConnection connection() {
            return null;
        }

        @Override
        public @Nullable AbstractSelectableChannel ordinary() {
            return null;
        }

        @Override
        public void addOrdinaryKey(SelectionKey key) {
            throw new AssertionError("it has no channel of the JDK");
        }

        @Override
        public void add(Readiness added) {
            listener = added;
        }

        @Override
        public void remove(Readiness removed) {
            listener = () -> {};
            if (failsToLeave) {
                throw new IllegalStateException("cannot leave");
            }
        }

        @Override
        public boolean isShared() {
            return false;
        }

        @Override
        protected void implCloseSelectableChannel() {}

        @Override
        protected void implConfigureBlocking(boolean block) {}
    }
}
