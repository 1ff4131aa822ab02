package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.Driver;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// Changes requests so that the real device fails them. It then also flushes later requests, in order, and notifies
/// the peer, as after any other failure. A request is restored as soon as it was posted.
final class Spoiler {
    private static final int BYTES = 8; // as an atomic operation needs

    private final ProtectionDomainDriver domain;
    private final MemoryRegionDriver foreign;
    private final long address;

    private Spoiler(ProtectionDomainDriver domain, MemoryRegionDriver foreign) {
        this.domain = domain;
        this.foreign = foreign;
        this.address = Objects.requireNonNull(foreign.segment(), "it was allocated here")
                .address();
    }

    /// Registers memory in a separate protection domain, which no queue pair can use.
    static Spoiler of(ContextDriver context) {
        ProtectionDomainDriver domain = context.allocateProtectionDomain();
        try {
            return new Spoiler(domain, domain.allocate(BYTES, 0, PageSize.NORMAL));
        } catch (RuntimeException e) {
            close(domain);
            throw e;
        }
    }

    void close() {
        close(foreign);
        close(domain);
    }

    private static void close(Driver driver) {
        driver.closing();
        driver.close();
    }

    /// The original content of a request.
    ///
    /// @param at the offset of the request in the memory of its batch
    /// @param elementsAt the offset of its elements
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

    /// Spoils a request.
    ///
    /// @param workId its new work id
    /// @param remotely whether the peer's device must reject it, if the operation makes that possible
    Original spoil(RequestChain requests, int index, long workId, FaultOperation operation, boolean remotely) {
        MemorySegment batch = requests.segment();
        long at = requests.at(index);
        boolean receive = operation == FaultOperation.RECEIVE;
        Original original = Original.of(
                batch, at, receive ? ReceiveRequestLayout.BYTES : SendRequestLayout.BYTES, requests.elementsAt(index));
        batch.set(JAVA_LONG, at + ReceiveRequestLayout.WORK_ID, workId);
        if (receive) {
            takeMemory(requests, index);
            return original;
        }
        int flags = requests.flags(index) | SendRequestLayout.FLAG_SIGNALED;
        // A peer does not check the key of a request without data (IBTA 9.7.5.2.5).
        if (remotely && operation.isOneSided() && requests.length(index) > 0) {
            // The low byte distinguishes successive uses of one key, on this project's device and on adapters.
            long key = at
                    + (operation == FaultOperation.ATOMIC
                            ? SendRequestLayout.ATOMIC_KEY
                            : SendRequestLayout.REMOTE_KEY);
            batch.set(JAVA_INT, key, batch.get(JAVA_INT, key) ^ 0xff);
        } else {
            flags &= ~SendRequestLayout.FLAG_INLINE;
            takeMemory(requests, index);
        }
        batch.set(JAVA_INT, at + SendRequestLayout.FLAGS, flags);
        return original;
    }

    /// The element count is at the same offset in sends and receives.
    private void takeMemory(RequestChain requests, int index) {
        MemorySegment batch = requests.segment();
        long element = requests.elementsAt(index);
        batch.set(JAVA_INT, requests.at(index) + ReceiveRequestLayout.ELEMENT_COUNT, 1);
        batch.set(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS, address);
        batch.set(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH, BYTES);
        batch.set(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY, foreign.localKey());
    }
}
