package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.ReceiveRequestLayout;
import io.rdmacomm.verbs.SendRequestLayout;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/// Changes requests in a batch so that the real device fails them: it then also flushes what follows, in order, and
/// tells the peer, as after any other failure. The batch is restored as soon as it was posted.
final class Spoiler {
    private static final int BYTES = 8; // as an atomic operation needs

    private final MemoryRegion foreign;

    /// Registers memory in a protection domain of its own, which no queue pair can use. It is closed with `context`.
    Spoiler(Context context) {
        ProtectionDomain domain = context.allocateProtectionDomain();
        this.foreign = domain.allocate(BYTES, Set.of());
    }

    /// A request as it was.
    ///
    /// @param at where the request is in the batch
    /// @param elementsAt where its elements are
    record Original(MemorySegment batch, long at, MemorySegment request, long elementsAt, MemorySegment element) {
        private static Original of(MemorySegment batch, long at, int bytes, long elementsAt) {
            return new Original(
                    batch,
                    at,
                    copy(batch, at, bytes),
                    elementsAt,
                    copy(batch, elementsAt, ReceiveRequestLayout.ELEMENT_BYTES));
        }

        private static MemorySegment copy(MemorySegment from, long at, int bytes) {
            return MemorySegment.ofArray(from.asSlice(at, bytes).toArray(JAVA_BYTE));
        }

        void restore() {
            MemorySegment.copy(request, 0, batch, at, request.byteSize());
            MemorySegment.copy(element, 0, batch, elementsAt, element.byteSize());
        }
    }

    /// Spoils a send request.
    ///
    /// @param remotely whether the peer's device is to reject it, if the operation allows that
    Original spoilSend(
            MemorySegment batch, long at, long elementsAt, long workId, Operation operation, boolean remotely) {
        Original original = Original.of(batch, at, SendRequestLayout.BYTES, elementsAt);
        batch.set(JAVA_LONG, at + SendRequestLayout.WORK_ID, workId);
        int flags = batch.get(JAVA_INT, at + SendRequestLayout.FLAGS) | SendRequestLayout.FLAG_SIGNALED;
        if (remotely && operation.isOneSided() && !isEmpty(batch, at, elementsAt)) {
            // The low byte tells the uses of one key apart, on this project's device and on adapters.
            long key =
                    at + (operation == Operation.ATOMIC ? SendRequestLayout.ATOMIC_KEY : SendRequestLayout.REMOTE_KEY);
            batch.set(JAVA_INT, key, batch.get(JAVA_INT, key) ^ 0xff);
        } else {
            flags &= ~SendRequestLayout.FLAG_INLINE;
            takeMemory(batch, at, elementsAt);
        }
        batch.set(JAVA_INT, at + SendRequestLayout.FLAGS, flags);
        return original;
    }

    /// Spoils a receive.
    Original spoilReceive(MemorySegment batch, long at, long elementsAt, long workId) {
        Original original = Original.of(batch, at, ReceiveRequestLayout.BYTES, elementsAt);
        batch.set(JAVA_LONG, at + ReceiveRequestLayout.WORK_ID, workId);
        takeMemory(batch, at, elementsAt);
        return original;
    }

    /// A peer checks no key of a request without data (IBTA 9.7.5.2.5).
    private static boolean isEmpty(MemorySegment batch, long at, long elementsAt) {
        int count = batch.get(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT);
        for (int i = 0; i < count; i++) {
            long element = elementsAt + (long) i * ReceiveRequestLayout.ELEMENT_BYTES;
            if (batch.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH) != 0) {
                return false;
            }
        }
        return true;
    }

    /// Sends and receives have element count and work id at the same offsets.
    private void takeMemory(MemorySegment batch, long at, long elementsAt) {
        batch.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_COUNT, 1);
        batch.set(JAVA_LONG, elementsAt + ReceiveRequestLayout.ELEMENT_ADDRESS, foreign.address());
        batch.set(JAVA_INT, elementsAt + ReceiveRequestLayout.ELEMENT_LENGTH, BYTES);
        batch.set(JAVA_INT, elementsAt + ReceiveRequestLayout.ELEMENT_KEY, foreign.localKey());
    }
}
