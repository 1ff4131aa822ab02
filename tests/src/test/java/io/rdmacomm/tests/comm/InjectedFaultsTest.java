package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.Admission;
import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.WorkStatus;
import java.util.Random;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Sessions over a device that injects faults: every operation that was accepted ends exactly once, nothing hangs, and
/// nothing is left behind.
@ExtendWith(LeakCheck.class)
final class InjectedFaultsTest {
    private static final int OPERATIONS = 100;
    private static final int BYTES = 64;

    static Stream<Arguments> modes() {
        return Stream.of(
                Arguments.of(WorkMode.POLLING, ThreadMode.SHARED_CQ),
                Arguments.of(WorkMode.COMPLETION_CHANNEL, ThreadMode.PER_QUEUE_PAIR),
                Arguments.of(WorkMode.EPOLL, ThreadMode.SHARED_CQ),
                Arguments.of(WorkMode.ADAPTIVE, ThreadMode.PER_QUEUE_PAIR));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void everyOperationEndsOnce(WorkMode work, ThreadMode thread) {
        long first = new Random().nextInt(1_000_000);
        for (long seed = first; seed < first + Amount.of(8, 2); seed++) {
            String device = "fault:soft0?seed=" + seed + "&full=any:5%&fail=any:0.5%:RETRY_EXCEEDED"
                    + "&fail=any:0.2%:REMOTE_ACCESS_ERROR&fail=send:0.2%:RECEIVER_NOT_READY_EXCEEDED"
                    + "&fail=receive:0.2%:LOCAL_PROTECTION_ERROR&delay=any:10%:0-1ms&delay=receive:10%:0-1ms";
            System.out.println(work + " " + thread + " over " + device);
            SessionOptions options = SessionOptions.defaults()
                    .withDevice(device)
                    .withWorkMode(work)
                    .withThreadMode(thread);
            try (ConnectedPair pair = ConnectedPair.of(options)) {
                everyOperationEndsOnce(pair);
            } catch (RdmaException e) {
                // A fault met the set-up, or the end.
            }
        }
    }

    /// Even where its device tells the peer nothing: an idle peer would wait forever.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "fatal=send@2:3:silent",
                "fatal=send@2:3",
                "overrun=send@2:3",
                "fail=send@2:3:RETRY_EXCEEDED",
                "fail=send@2:3:LOCAL_PROTECTION_ERROR",
                "fail=send@2:3:GENERAL_ERROR"
            })
    void thePeerOfAnEndPointThatHasFailedFails(String rule) {
        SessionOptions options = SessionOptions.defaults().withAddress("127.0.0.1", 0);
        try (ServerSession server = ServerSession.listen(options.withDevice("soft0"));
                ClientSession client =
                        ClientSession.connect(options.withPort(server.port()).withDevice("fault:soft0?" + rule))) {
            EndPoint here = client.endPoint();
            EndPoint there = server.accept(TIMEOUT);
            BlockingChannel channel = here.channel(0).blocking(TIMEOUT);
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 3; i++) {
                            channel.send(new byte[BYTES]);
                        }
                    })
                    .isInstanceOf(RdmaException.class);

            eventually(() -> there.state() == EndPointState.FAILED);
            assertThat(here.state()).isEqualTo(EndPointState.FAILED);
            assertThat(there.failure()).satisfies(peer(PeerFailedException.Reason.GONE));
        }
    }

    /// The peer ends because of an operation, and a library thread notices its end before the operation has ended.
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CALLER")
    void theOperationThatEndedThePeerIsTheReason(ThreadMode mode) {
        SessionOptions options = SessionOptions.defaults().withThreadMode(mode);
        try (ConnectedPair pair =
                new ConnectedPair(options.withDevice("soft0"), options.withDevice("fault:soft0?delay=write:1:30ms"))) {
            RdmaBuffer source = pair.client.allocate("source", BYTES);
            RemoteBuffer remote = pair.target(pair.server.allocate("target", BYTES));
            RemoteBuffer invented = RemoteBuffer.of("invented", 4096, BYTES, 0x1234, AccessFlag.allRemote());
            BlockingChannel channel = pair.clientChannel().blocking(TIMEOUT);
            // Its completion is held back, and with it that of the next operation.
            pair.clientChannel().tryWrite(source.whole(), remote, 0, CompletionHandler.NONE, 0);

            assertThatThrownBy(() -> channel.write(source.whole(), invented, 0))
                    .isInstanceOf(OperationException.class)
                    .hasMessageContaining("REMOTE_ACCESS_ERROR");

            assertThatThrownBy(() -> channel.write(source.whole(), remote, 0))
                    .isInstanceOf(ClosedException.class)
                    .hasCauseInstanceOf(OperationException.class)
                    .hasMessageContaining("REMOTE_ACCESS_ERROR");
        }
    }

    private static void everyOperationEndsOnce(ConnectedPair pair) {
        RdmaBuffer source = pair.client.allocate("source", BYTES);
        RdmaBuffer target = pair.server.allocate("target", BYTES);
        RemoteBuffer remote = pair.target(target);
        AtomicIntegerArray ends = new AtomicIntegerArray(OPERATIONS);
        CompletionHandler handler = (on, context, status, result) -> ends.incrementAndGet((int) context);
        RdmaChannel channel = pair.clientChannel();
        int accepted = 0;
        while (accepted < OPERATIONS) {
            Admission admission = start(channel, accepted, source.slice(0, 8), remote, handler);
            if (admission == Admission.CLOSED) {
                break; // a fault has ended the channel
            }
            accepted += admission.isAccepted() ? 1 : 0;
            receive(pair);
        }
        int started = accepted;
        eventually(() -> {
            receive(pair);
            for (int i = 0; i < started; i++) {
                if (ends.get(i) == 0) {
                    return false;
                }
            }
            return true;
        });
        for (int i = 0; i < OPERATIONS; i++) {
            assertThat(ends.get(i)).as("ends of operation " + i).isEqualTo(i < started ? 1 : 0);
        }
    }

    private static Admission start(
            RdmaChannel channel, int number, BufferSlice slice, RemoteBuffer remote, CompletionHandler handler) {
        try {
            return switch (number % 4) {
                case 0 -> channel.trySend(slice, handler, number);
                case 1 -> channel.tryWrite(slice, remote, 0, handler, number);
                case 2 -> channel.tryRead(slice, remote, 0, handler, number);
                default -> channel.tryFetchAndAdd(remote, 0, 1, handler, number);
            };
        } catch (RdmaException e) {
            return Admission.CLOSED;
        }
    }

    private static void receive(ConnectedPair pair) {
        pair.server.poll();
        pair.client.poll();
        try (Message message = pair.serverChannel().tryReceive()) {
            assertThat(message == null ? 8 : message.length()).isEqualTo(8);
        } catch (RdmaException e) {
            // The server's end has failed as well.
        }
    }

    @Test
    void aFailedWriteNamesItsStatus() {
        SessionOptions plain = SessionOptions.defaults().withDevice("soft0");
        // Queue pair 1 is that of the control channel.
        SessionOptions faulty = plain.withDevice("fault:soft0?fail=write@2:3:REMOTE_ACCESS_ERROR");
        try (ConnectedPair pair = new ConnectedPair(plain, faulty)) {
            RdmaBuffer source = pair.client.allocate("source", BYTES);
            RemoteBuffer remote = pair.target(pair.server.allocate("target", BYTES));
            var blocking = pair.clientChannel().blocking(TIMEOUT);
            blocking.write(source.slice(0, 8), remote, 0);
            blocking.write(source.slice(0, 8), remote, 0);
            assertThatThrownBy(() -> blocking.write(source.slice(0, 8), remote, 0))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining(WorkStatus.REMOTE_ACCESS_ERROR.name());
        }
    }

    @Test
    void aSessionWithoutMemoryLeavesNothingBehind() {
        for (String call : new String[] {"register", "create-queue-pair", "create-completion-queue", "connect"}) {
            for (int number = 1; number <= 3; number++) {
                SessionOptions options =
                        SessionOptions.defaults().withDevice("fault:soft0?fail=" + call + ":" + number + ":ENOMEM");
                try (ConnectedPair pair = new ConnectedPair(SessionOptions.defaults(), options)) {
                    pair.client.allocate("more", BYTES);
                } catch (RdmaException e) {
                    assertThat(e).hasStackTraceContaining("ENOMEM");
                }
            }
        }
    }
}
