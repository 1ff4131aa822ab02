package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.testing.Allocation;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkRequestException;
import org.junit.jupiter.api.Test;

/// The data path allocates nothing: the thread's allocated bytes do not move over up to 100,000 posts and polls.
class AllocationTest extends ContractCase {
    private static final int OPERATIONS = Amount.onLine(Amount.of(100_000, 3000), 100);
    private static final int AT_LEAST = Amount.onLine(1000, 100);
    /// Over TCP each step waits for another thread or process, which waits for the processor: then there are fewer.
    private static final long ROUND_NANOS = 500_000_000L;
    private static final int PAGE = 4096;

    private void allocatesNothing(String what, Runnable step) {
        Allocation.assertNone(what + " on " + fabric, () -> repeat(step));
    }

    private static void repeat(Runnable step) {
        long end = System.nanoTime() + ROUND_NANOS;
        int done = 0;
        while (done < OPERATIONS && (done < AT_LEAST || System.nanoTime() - end < 0)) {
            step.run();
            done++;
        }
    }

    private static void pollOne(CompletionQueue queue, Completions room) {
        long spins = 0;
        while (queue.poll(room) == 0) {
            Thread.onSpinWait();
            if (++spins > 2_000_000_000L) {
                throw new AssertionError("no completion");
            }
        }
        if (!room.isSuccess(0)) {
            throw new AssertionError("status " + room.statusCode(0));
        }
    }

    @Test
    void oneSidedRequestsAllocateNothing() {
        Pair pair = connected();
        QueuePair queuePair = pair.here().queuePair();
        CompletionQueue queue = pair.here().completionQueue();
        LocalMemory local = here().allocate(PAGE, everything());
        EndMemory target = there().allocate(PAGE, everything());
        RemoteMemory remote = target.remote();
        Completions room = Completions.create(here().arena(), 16);
        SendBatch write = SendBatch.create(here().arena(), 1, 1)
                .write(1, remote.address(), remote.key())
                .with(local.region(), 0, 8)
                .signaled();
        SendBatch read = SendBatch.create(here().arena(), 1, 1)
                .read(2, remote.address(), remote.key())
                .with(local.region(), 8, 8)
                .signaled();
        SendBatch page = SendBatch.create(here().arena(), 2, 1)
                .write(5, remote.address() + PAGE / 2, remote.key())
                .with(local.region(), 0, PAGE / 2)
                .read(6, remote.address(), remote.key())
                .with(local.region(), PAGE / 2, PAGE / 2)
                .signaled();
        SendBatch add = SendBatch.create(here().arena(), 1, 1)
                .fetchAndAdd(3, remote.address() + 8, remote.key(), 1)
                .with(local.region(), 16, 8)
                .signaled();
        SendBatch swap = SendBatch.create(here().arena(), 1, 1)
                .compareAndSwap(4, remote.address() + 8, remote.key(), 1, 2)
                .with(local.region(), 16, 8)
                .signaled();
        boolean atomics = can(Capability.ATOMICS);
        if (!atomics) {
            assertThatThrownBy(() -> queuePair.post(add)).isInstanceOf(WorkRequestException.class);
            assertThatThrownBy(() -> queuePair.post(swap)).isInstanceOf(WorkRequestException.class);
        }
        for (SendBatch batch :
                atomics ? new SendBatch[] {write, read, page, add, swap} : new SendBatch[] {write, read, page}) {
            allocatesNothing("one-sided request", () -> {
                queuePair.post(batch);
                pollOne(queue, room);
            });
        }
        SendBatch chain = SendBatch.create(here().arena(), 8, 1);
        allocatesNothing("filling and posting a chain", () -> {
            chain.clear();
            for (int i = 0; i < 8; i++) {
                chain.write(i, remote.address(), remote.key()).with(local.region(), 0, 8);
            }
            chain.signaled();
            queuePair.post(chain);
            pollOne(queue, room);
        });
    }

    @Test
    void sendsAndReceivesAllocateNothing() {
        LocalQueue one = here().queue(Spec.usual());
        LocalQueue two = here().queue(Spec.usual());
        pair(one, two).connect(patient());
        LocalMemory local = here().allocate(PAGE, everything());
        Completions room = Completions.create(here().arena(), 16);
        SendBatch immediate = SendBatch.create(here().arena(), 1, 2)
                .sendWithImmediate(1, 7)
                .with(local.region(), 0, 64)
                .signaled();
        SendBatch send = SendBatch.create(here().arena(), 1, 2)
                .send(1)
                .with(local.region(), 0, 32)
                .with(local.region(), 32, 32)
                .signaled()
                .solicited();
        SendBatch large = SendBatch.create(here().arena(), 1, 1)
                .send(1)
                .with(local.region(), 0, PAGE / 2)
                .signaled();
        SendBatch inline = SendBatch.create(here().arena(), 1, 1)
                .send(1)
                .with(local.region(), 0, 32)
                .signaled()
                .inline();
        SendBatch write = SendBatch.create(here().arena(), 1, 1)
                .writeWithImmediate(1, local.address() + 192, local.remote().key(), 5)
                .with(local.region(), 0, 32)
                .signaled();
        ReceiveBatch receive =
                ReceiveBatch.create(here().arena(), 1, 1).receive(2).with(local.region(), PAGE / 2, PAGE / 2);
        boolean possible = can(Capability.SEND_WITH_IMMEDIATE) && can(Capability.WRITE_WITH_IMMEDIATE);
        if (!possible) {
            assertThatThrownBy(() -> one.queuePair().post(immediate)).isInstanceOf(WorkRequestException.class);
            assertThatThrownBy(() -> one.queuePair().post(write)).isInstanceOf(WorkRequestException.class);
        }
        SendBatch[] batches = possible
                ? new SendBatch[] {send, large, inline, immediate, write}
                : new SendBatch[] {send, large, inline};
        for (SendBatch batch : batches) {
            allocatesNothing("receive and send", () -> {
                two.queuePair().post(receive);
                one.queuePair().post(batch);
                pollOne(one.completionQueue(), room);
                pollOne(two.completionQueue(), room);
            });
        }
    }

    @Test
    void armingAndPollingAnEmptyQueueAllocatesNothing() {
        LocalQueue queue = here().queue(Spec.usual());
        Completions room = Completions.create(here().arena(), 16);
        allocatesNothing("arming and polling", () -> {
            queue.completionQueue().arm();
            queue.completionQueue().poll(room);
        });
    }

    @Test
    void aFullQueueAllocatesNothing() {
        Pair pair = connected(Spec.usual().withDepth(4, 4));
        QueuePair queuePair = pair.here().queuePair();
        LocalMemory local = here().allocate(64, everything());
        RemoteMemory remote = there().allocate(64, everything()).remote();
        SendBatch write = SendBatch.create(here().arena(), 1, 1)
                .write(1, remote.address(), remote.key())
                .with(local.region(), 0, 8);
        while (queuePair.post(write) == 1) {
            // Until it is full: no request is signaled.
        }
        allocatesNothing("posting to a full queue", () -> queuePair.post(write));
    }
}
