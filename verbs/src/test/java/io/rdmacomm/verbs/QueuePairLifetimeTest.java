package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/// Creating, finding and closing queue pairs on any provider.
class QueuePairLifetimeTest extends QueuePairFixture {
    @Test
    void aReusedNumberBelongsToTheNewQueuePair() {
        QueuePair first = connected(options());
        first.post(sends(1, true));
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.SEND, first.number());
        queue.poll(completions);
        int number = first.number();
        first.close();
        device.nextNumber = number;
        QueuePair second = connected(options());
        second.post(sends(4, true));
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.SEND, number);
        queue.poll(completions);

        assertThat(context.queuePair(number)).isSameAs(second);
        assertThat(second.post(sends(4, true))).isEqualTo(1);
    }

    @Test
    void isFoundByItsNumberWhileItIsOpen() {
        QueuePair[] pairs = new QueuePair[300];
        for (int i = 0; i < pairs.length; i++) {
            device.nextNumber = 0x10 + i * 64;
            pairs[i] = create(options());
        }
        for (QueuePair pair : pairs) {
            assertThat(context.queuePair(pair.number())).isSameAs(pair);
        }
        for (int i = 0; i < pairs.length; i += 2) {
            pairs[i].close();
        }
        for (int i = 0; i < pairs.length; i++) {
            assertThat(context.queuePair(pairs[i].number())).isSameAs(i % 2 == 0 ? null : pairs[i]);
        }
        assertThat(context.queuePair(0x9999)).isNull();
    }

    @Test
    void sizesBeyondTheDeviceAreRejectedWithItsLimit() {
        assertThatThrownBy(() -> create(options().withSizes(new QueueSizes(65, 1, 1, 1, 0))))
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("send queue depth 65 exceeds the limit of 64 (max_qp_wr) on null0");
        assertThatThrownBy(() -> create(options().withSizes(new QueueSizes(1, 1, 1, 5, 0))))
                .hasMessageContaining("elements of a receive 5 exceeds the limit of 4 (max_sge)");
        assertThatThrownBy(() -> context.createCompletionQueue(CompletionQueueOptions.ofCapacity(1001)))
                .hasMessageContaining("1001 exceeds the limit of 1000");
    }

    @Test
    void objectsOfAnotherContextAreRejected() {
        try (Context other = Device.of(device).open()) {
            CompletionQueue foreign = other.createCompletionQueue(CompletionQueueOptions.ofCapacity(10));
            CompletionChannel channel = other.createCompletionChannel();
            assertThatThrownBy(() -> create(QueuePairOptions.reliable(foreign))).hasMessageContaining("EINVAL");
            assertThatThrownBy(() -> context.createCompletionQueue(
                            CompletionQueueOptions.ofCapacity(10).withChannel(channel)))
                    .hasMessageContaining("EINVAL");
        }
    }

    @Test
    void creatingWithAClosedQueueLeavesNothingBehind() {
        queue.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> create(options()))
                .withMessageContaining("completion queue of 100 on null0 is closed");
        assertThat(context.queuePair(0x11)).isNull();
        assertThat(device.nextNumber).as("the device created nothing").isEqualTo(0x11);
        CompletionChannel channel = context.createCompletionChannel();
        channel.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> context.createCompletionQueue(
                        CompletionQueueOptions.ofCapacity(1).withChannel(channel)))
                .withMessageContaining("completion channel on null0 is closed");
    }

    @Test
    void useAfterCloseNamesTheObject() {
        QueuePair pair = connected(options());
        pair.close();

        String message = "queue pair 0x11 on null0 is closed";
        assertThatIllegalStateException()
                .isThrownBy(() -> pair.post(sends(1, true)))
                .withMessage(message);
        assertThatIllegalStateException()
                .isThrownBy(() -> pair.post(receives(1)))
                .withMessage(message);
        assertThatIllegalStateException().isThrownBy(pair::query).withMessage(message);
        assertThatIllegalStateException()
                .isThrownBy(() -> pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR)))
                .withMessage(message);
        assertThatIllegalStateException().isThrownBy(pair::info).withMessage(message);
    }
}
