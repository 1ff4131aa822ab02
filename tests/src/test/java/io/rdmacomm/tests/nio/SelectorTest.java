package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.fail;

import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.nio.Sockets.Pair;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/// Selectors and keys.
@ParameterizedClass
@EnumSource(Sockets.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
@ExtendWith(LeakCheck.class)
class SelectorTest {
    private static final int SHORT_MILLIS = 50;
    private static final int LONG_MILLIS = 30_000;
    private static final int REGISTRATIONS = 10_000;

    private final SelectorProvider provider;
    private final Selector selector;

    SelectorTest(Sockets sockets) throws IOException {
        this.provider = sockets.provider();
        this.selector = provider.openSelector();
    }

    @AfterEach
    void close() throws IOException {
        selector.close();
        Sockets.close(provider);
    }

    private Pair pair() throws IOException {
        Pair pair = Pair.connect(provider);
        pair.client().configureBlocking(false);
        return pair;
    }

    private static ByteBuffer one() {
        return ByteBuffer.allocate(1);
    }

    /// Selects until there is something: a selector may return early.
    private int selected() throws IOException {
        int count = 0;
        while (count == 0) {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            count = selector.select(LONG_MILLIS);
        }
        return count;
    }

    private FutureTask<Integer> selecting() {
        FutureTask<Integer> task = new FutureTask<>(() -> selector.select(LONG_MILLIS));
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    @Test
    void aConnectionIsReadyToWriteAndThenToRead() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE, "mine");
            assertThat(key.attachment()).isEqualTo("mine");
            assertThat(selected()).isEqualTo(1);
            assertThat(selector.selectedKeys()).containsExactly(key);
            assertThat(key.isWritable()).isTrue();
            assertThat(key.isReadable()).isFalse();
            // It is still selected, and nothing has changed.
            assertThat(selector.selectNow()).isZero();
            selector.selectedKeys().clear();
            key.interestOps(SelectionKey.OP_READ);
            assertThat(selector.selectNow()).isZero();
            pair.server().write(one());
            assertThat(selected()).isEqualTo(1);
            assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ);
            selector.selectedKeys().clear();
            // Until it was read.
            assertThat(selector.select(LONG_MILLIS)).isEqualTo(1);
            selector.selectedKeys().clear();
            pair.client().read(one());
            assertThat(selector.selectNow()).isZero();
        }
    }

    @Test
    void aSleepingSelectorHearsOfAMessage() throws Exception {
        try (Pair pair = pair()) {
            pair.client().register(selector, SelectionKey.OP_READ);
            for (int i = 0; i < 20; i++) {
                FutureTask<Integer> selecting = selecting();
                Thread.sleep(5);
                pair.server().write(one());
                assertThat(selecting.get()).isEqualTo(1);
                assertThat(pair.client().read(ByteBuffer.allocate(9))).isEqualTo(1);
                selector.selectedKeys().clear();
            }
        }
    }

    @Test
    void aConnectIsFinishedWhenTheSelectorSaysSo() throws Exception {
        try (ServerSocketChannel listening = Sockets.listen(provider);
                SocketChannel client = provider.openSocketChannel()) {
            listening.configureBlocking(false);
            SelectionKey accepting = listening.register(selector, SelectionKey.OP_ACCEPT);
            client.configureBlocking(false);
            SelectionKey connecting = client.register(selector, SelectionKey.OP_CONNECT);
            boolean connected = client.connect(listening.getLocalAddress());
            SocketChannel accepted = null;
            while (!connected || accepted == null) {
                selected();
                if (selector.selectedKeys().remove(connecting) && connecting.isConnectable()) {
                    connected = client.finishConnect();
                    connecting.interestOps(0);
                }
                if (selector.selectedKeys().remove(accepting) && accepting.isAcceptable()) {
                    accepted = listening.accept();
                }
            }
            assertThat(accepted.isConnected()).isTrue();
            accepted.close();
        }
    }

    @Test
    void aFailedConnectIsReadyToBeFinished() throws Exception {
        ServerSocketChannel listening = Sockets.listen(provider);
        var nobody = listening.getLocalAddress();
        listening.close();
        SocketChannel client = provider.openSocketChannel();
        client.configureBlocking(false);
        client.register(selector, SelectionKey.OP_CONNECT);
        try {
            client.connect(nobody);
            selected();
        } catch (IOException e) {
            // At once.
        }
        assertThatExceptionOfType(IOException.class).isThrownBy(client::finishConnect);
    }

    @Test
    void theEndOfAStreamIsReadyToRead() throws Exception {
        try (Pair pair = pair()) {
            pair.client().register(selector, SelectionKey.OP_READ);
            pair.server().close();
            selected();
            assertThat(pair.client().read(one())).isEqualTo(-1);
        }
    }

    @Test
    void aWakeUpCountsForTheNextSelect() throws Exception {
        selector.wakeup();
        assertThat(selector.select()).isZero();
        FutureTask<Integer> selecting = selecting();
        Thread.sleep(SHORT_MILLIS);
        selector.wakeup();
        assertThat(selecting.get()).isZero();
        try (Pair pair = pair()) {
            pair.client().register(selector, SelectionKey.OP_READ);
            FutureTask<Integer> again = selecting();
            Thread.sleep(SHORT_MILLIS);
            selector.wakeup();
            assertThat(again.get()).isZero();
            selector.wakeup();
            selector.selectNow();
            long begin = System.nanoTime();
            assertThat(selector.select(SHORT_MILLIS)).isZero();
            assertThat(System.nanoTime() - begin).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(SHORT_MILLIS) / 2);
        }
    }

    @Test
    void anInterruptEndsASelectAndStaysPending() throws Exception {
        try (Pair pair = pair()) {
            pair.client().register(selector, SelectionKey.OP_READ);
            FutureTask<Boolean> task = new FutureTask<>(() -> {
                selector.select();
                return Thread.currentThread().isInterrupted();
            });
            Thread thread = Thread.ofPlatform().daemon().start(task);
            Thread.sleep(SHORT_MILLIS);
            thread.interrupt();
            assertThat(task.get()).isTrue();
            assertThat(selector.isOpen()).isTrue();
        }
    }

    @Test
    void aCloseEndsASelect() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_READ);
            FutureTask<Integer> selecting = selecting();
            Thread.sleep(SHORT_MILLIS);
            selector.close();
            try {
                selecting.get();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(ClosedSelectorException.class);
            }
            assertThat(key.isValid()).isFalse();
            assertThat(pair.client().isRegistered()).isFalse();
            assertThatExceptionOfType(ClosedSelectorException.class).isThrownBy(selector::keys);
            assertThatExceptionOfType(ClosedSelectorException.class).isThrownBy(selector::selectNow);
            assertThatExceptionOfType(ClosedSelectorException.class)
                    .isThrownBy(() -> pair.client().register(selector, SelectionKey.OP_READ));
        }
    }

    @Test
    void aCancelledKeyLeavesAtTheNextSelect() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_WRITE);
            selected();
            key.cancel();
            assertThat(key.isValid()).isFalse();
            assertThatExceptionOfType(CancelledKeyException.class).isThrownBy(key::readyOps);
            assertThatExceptionOfType(CancelledKeyException.class).isThrownBy(() -> key.interestOps(0));
            assertThat(selector.keys()).containsExactly(key);
            assertThatExceptionOfType(CancelledKeyException.class)
                    .isThrownBy(() -> pair.client().register(selector, SelectionKey.OP_READ));
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(selector.selectedKeys()).isEmpty();
            // As an HTTP server of the JDK does between two requests.
            pair.client().configureBlocking(true);
            pair.client().configureBlocking(false);
            pair.client().register(selector, SelectionKey.OP_WRITE);
            assertThat(selected()).isEqualTo(1);
        }
    }

    @Test
    void aClosedChannelLeavesItsSelectors() throws Exception {
        try (Pair pair = pair();
                Selector second = provider.openSelector()) {
            pair.client().register(selector, SelectionKey.OP_READ);
            pair.client().register(second, SelectionKey.OP_READ);
            pair.client().close();
            selector.selectNow();
            second.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(second.keys()).isEmpty();
        }
    }

    private void exchange(Pair pair, int messages) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        for (int i = 0; i < messages; i++) {
            pair.server().write(one.clear());
            assertThat(selector.select()).isEqualTo(1);
            selector.selectedKeys().clear();
            assertThat(pair.client().read(one.clear())).isEqualTo(1);
        }
    }

    /// Some programs have a selector for reading and one for writing.
    @Test
    void aSelectorThatIsNotInterestedSleeps() throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        try (Pair pair = pair();
                Selector writing = provider.openSelector()) {
            SelectionKey toWrite = pair.client().register(writing, SelectionKey.OP_WRITE);
            pair.client().register(selector, SelectionKey.OP_READ);
            assertThat(writing.select()).isEqualTo(1);
            writing.selectedKeys().clear();
            toWrite.interestOps(0);
            FutureTask<Integer> selecting = new FutureTask<>(() -> {
                int count = 0;
                while (count == 0) {
                    count = writing.select();
                }
                return count;
            });
            Thread writer = Thread.ofPlatform().daemon().start(selecting);
            // The start of the thread and its first sleep do not count.
            exchange(pair, 500);
            long writerBefore = threads.getThreadCpuTime(writer.threadId());
            long readerBefore = threads.getCurrentThreadCpuTime();
            exchange(pair, 4_000);
            long reader = threads.getCurrentThreadCpuTime() - readerBefore;
            assertThat(threads.getThreadCpuTime(writer.threadId()) - writerBefore)
                    .isLessThan(reader / 10);
            toWrite.interestOps(SelectionKey.OP_WRITE);
            writing.wakeup();
            assertThat(selecting.get()).isEqualTo(1);
        }
    }

    @Test
    void keysCheckTheirOperations() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, 0);
            assertThat(key.interestOps()).isZero();
            assertThatIllegalArgumentException().isThrownBy(() -> key.interestOps(SelectionKey.OP_ACCEPT));
            assertThat(key.interestOpsOr(SelectionKey.OP_WRITE)).isZero();
            assertThat(selected()).isEqualTo(1);
            assertThat(key.interestOpsAnd(~SelectionKey.OP_WRITE)).isEqualTo(SelectionKey.OP_WRITE);
            assertThat(key.interestOps()).isZero();
            assertThat(key.channel()).isSameAs(pair.client());
            assertThat(key.selector()).isSameAs(selector);
            assertThatExceptionOfType(IllegalBlockingModeException.class)
                    .isThrownBy(() -> pair.client().configureBlocking(true));
            assertThatExceptionOfType(IllegalBlockingModeException.class)
                    .isThrownBy(() -> pair.server().register(selector, SelectionKey.OP_READ));
        }
    }

    @Test
    void programsDoNotAddKeys() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_READ);
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> selector.selectedKeys().add(key));
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> selector.keys().remove(key));
            assertThatIllegalArgumentException().isThrownBy(() -> selector.select(-1));
        }
    }

    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void programsDoNotAddWhatIsNoKey() {
        Set untyped = selector.selectedKeys();
        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> untyped.add(new Object()));
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> untyped.addAll(List.of(new Object())));
    }

    @Test
    void aSelectEndsIfASelectedKeyIsStillReady() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_WRITE);
            assertThat(selected()).isEqualTo(1);
            assertThat(selector.select()).isZero();
            pair.server().write(one());
            key.interestOps(SelectionKey.OP_READ);
            assertThat(selected()).isEqualTo(1);
            assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            assertThat(selector.select()).isZero();
        }
    }

    @Test
    void anActionLeavesTheSelectedKeysAsTheyAre() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_WRITE);
            assertThat(selector.select(each -> assertThat(each).isSameAs(key))).isEqualTo(1);
            assertThat(selector.selectedKeys()).isEmpty();
            assertThat(selected()).isEqualTo(1);
            assertThat(selector.selectNow(each -> assertThat(each).isSameAs(key)))
                    .isEqualTo(1);
            assertThat(selector.selectedKeys()).containsExactly(key);
            key.cancel();
            assertThat(selector.selectNow(each -> fail("the key was cancelled")))
                    .isZero();
            assertThat(selector.selectedKeys()).isEmpty();
        }
    }

    @Test
    void anActionHasTheLocksAndDoesNotSelect() throws Exception {
        try (Pair pair = pair()) {
            pair.client().register(selector, SelectionKey.OP_WRITE);
            int count = selector.select(each -> {
                assertThat(Thread.holdsLock(selector)).isTrue();
                assertThat(Thread.holdsLock(selector.selectedKeys())).isTrue();
                assertThatIllegalStateException().isThrownBy(selector::selectNow);
                assertThatIllegalStateException().isThrownBy(() -> selector.select(1));
                assertThatIllegalStateException().isThrownBy(() -> selector.select(inner -> {}));
            });
            assertThat(count).isEqualTo(1);
            assertThatExceptionOfType(ClosedSelectorException.class)
                    .isThrownBy(() -> selector.select(each -> {
                        try {
                            selector.close();
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    }));
        }
    }

    /// Channels of ours, and of the JDK.
    @Test
    void anotherThreadMayCancelAKeyThatIsBeingRegistered() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        Thread cancelling = Thread.ofPlatform().daemon().start(() -> {
            while (!ended.get()) {
                selector.keys().forEach(SelectionKey::cancel);
            }
        });
        try (SocketChannel socket = provider.openSocketChannel();
                Pipe.SourceChannel pipe = Pipe.open().source()) {
            for (AbstractSelectableChannel channel : List.of(socket, pipe)) {
                channel.configureBlocking(false);
                for (int i = 0; i < REGISTRATIONS; i++) {
                    SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
                    selector.selectNow();
                    key.cancel();
                    while (selector.keys().contains(key)) {
                        selector.selectNow();
                    }
                }
            }
        } finally {
            ended.set(true);
            cancelling.join();
        }
    }

    @Test
    void anotherThreadMayCancelTheKeyOfAReadyPipe() throws Exception {
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            source.configureBlocking(false);
            sink.configureBlocking(false);
            sink.write(one());
            for (int i = 0; i < REGISTRATIONS; i++) {
                SelectionKey key = source.register(selector, SelectionKey.OP_READ);
                SelectionKey other = sink.register(selector, SelectionKey.OP_WRITE);
                Thread cancelling = Thread.ofVirtual().start(() -> {
                    key.cancel();
                    other.cancel();
                });
                selector.selectNow();
                cancelling.join();
                selector.selectNow();
                selector.selectedKeys().clear();
            }
        }
    }

    @Test
    void anActionGetsEachReadyKey() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_WRITE);
            int[] calls = new int[1];
            int count = selector.select(ready -> {
                assertThat(ready).isSameAs(key);
                calls[0]++;
            });
            assertThat(count).isEqualTo(1);
            assertThat(calls[0]).isEqualTo(1);
            assertThat(selector.selectedKeys()).isEmpty();
        }
    }

    @Test
    void anotherThreadChangesTheInterestOfASleepingSelector() throws Exception {
        try (Pair pair = pair()) {
            SelectionKey key = pair.client().register(selector, 0);
            pair.server().write(one());
            FutureTask<Integer> selecting = selecting();
            Thread.sleep(SHORT_MILLIS);
            key.interestOps(SelectionKey.OP_READ);
            selector.wakeup();
            // It may have noticed the interest at once, or only the next select does.
            if (selecting.get() == 0) {
                selected();
            }
            assertThat(key.isReadable()).isTrue();
        }
    }

    @Test
    void ordinaryChannelsAreInTheSameSelector() throws Exception {
        Pipe pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        try (Pair pair = pair()) {
            SelectionKey message = pair.client().register(selector, SelectionKey.OP_READ);
            SelectionKey piped = pipe.source().register(selector, SelectionKey.OP_READ);
            for (int round = 0; round < 5; round++) {
                FutureTask<Integer> selecting = selecting();
                Thread.sleep(5);
                pipe.sink().write(one());
                assertThat(selecting.get()).isEqualTo(1);
                assertThat(selector.selectedKeys()).containsExactly(piped);
                selector.selectedKeys().clear();
                pipe.source().read(one());
                selecting = selecting();
                Thread.sleep(5);
                pair.server().write(one());
                assertThat(selecting.get()).isEqualTo(1);
                assertThat(selector.selectedKeys()).containsExactly(message);
                selector.selectedKeys().clear();
                pair.client().read(one());
            }
            piped.cancel();
            selector.selectNow();
            assertThat(selector.keys()).containsExactly(message);
        } finally {
            pipe.source().close();
            pipe.sink().close();
        }
    }
}
