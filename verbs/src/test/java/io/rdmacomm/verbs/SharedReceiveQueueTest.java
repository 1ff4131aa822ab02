package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.NullDrivers.NullSharedQueue;
import java.lang.foreign.Arena;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The checks of a shared receive queue that are the same for all providers.
class SharedReceiveQueueTest {
    private final NullDrivers device = new NullDrivers();
    private Context context;
    private SharedReceiveQueue shared;
    private NullSharedQueue driver;

    @BeforeEach
    void open() {
        context = Device.of(device).open();
        shared = context.allocateProtectionDomain()
                .createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(8).withLimit(5));
        driver = device.sharedQueue;
    }

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void onlyPossibleSizesReachTheDevice() {
        shared.resize(5);
        assertThat(driver.size).isEqualTo(5);
        shared.resize(100);
        assertThat(driver.size).isEqualTo(100);
        for (int bad : new int[] {-1, 0, 101}) {
            assertThatThrownBy(() -> shared.resize(bad))
                    .hasMessageContainingAll("ibv_modify_srq", "EINVAL", bad + " receives", "must be 1 to 100");
        }
        assertThatThrownBy(() -> shared.resize(4))
                .hasMessageContainingAll("EINVAL", "its limit is armed at 5", "shared receive queue on null0");
        assertThat(driver.size).isEqualTo(100);
    }

    @Test
    void aDeviceWithoutTheCapabilityIsNotAsked() {
        device.capabilities.remove(Capability.RESIZE_SHARED_RECEIVE_QUEUE);
        assertThatThrownBy(() -> shared.resize(50))
                .isInstanceOfSatisfying(
                        UnsupportedVerbException.class,
                        e -> assertThat(e.capability()).isEqualTo(Capability.RESIZE_SHARED_RECEIVE_QUEUE));
        assertThat(driver.size).isZero();
    }

    @Test
    void useAfterCloseNamesTheQueue() {
        shared.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> shared.resize(50))
                .withMessage("shared receive queue on null0 is closed");
        assertThatIllegalStateException().isThrownBy(() -> shared.armLimit(1));
        assertThatIllegalStateException().isThrownBy(shared::query);
    }

    /// The driver would write to a queue that is freed.
    @Test
    void closingWaitsForAPost() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        driver.whilePosting = () -> {
            inside.countDown();
            try {
                assertThat(goOn.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        FutureTask<Integer> posting = new FutureTask<>(() -> {
            try (Arena arena = Arena.ofConfined()) {
                return shared.post(ReceiveBatch.create(arena, 1, 1).receive(1));
            }
        });
        Thread.ofPlatform().start(posting);
        assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
        FutureTask<Void> closing = new FutureTask<>(shared::close, null);
        Thread closer = Thread.ofPlatform().start(closing);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (closer.getState() != Thread.State.WAITING && closer.getState() != Thread.State.TIMED_WAITING) {
            assertThat(System.nanoTime()).as("when closing waits").isLessThan(deadline);
            Thread.onSpinWait();
        }
        assertThat(driver.gone).as("while a post is in the driver").isFalse();
        goOn.countDown();
        assertThat(posting.get(20, TimeUnit.SECONDS)).isEqualTo(1);
        closing.get(20, TimeUnit.SECONDS);
        assertThat(driver.gone).isTrue();
    }
}
