package io.rdmacomm.tests.soak;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import java.util.Set;

/// The receives that some links of a device share for as long as the process lives.
final class SharedInbox {
    static final int PLACES = 48;
    static final long STRIDE = Shape.LONGEST + Shape.GUARD;

    private final SharedReceiveQueue queue;
    private final MemoryRegion memory;
    private final ReceiveLedger ledger = new ReceiveLedger(PLACES);

    SharedInbox(ProtectionDomain domain) {
        memory = domain.allocate(PLACES * STRIDE, Set.of(AccessFlag.LOCAL_WRITE));
        Content.fill(memory.segment(), 0, memory.length(), Content.GUARD_KEY, 0);
        queue = domain.createSharedReceiveQueue(
                SharedReceiveQueueOptions.ofDepth(PLACES).withElements(2));
        Inbox all = new Inbox(ledger, memory, 0, STRIDE, Shape.LONGEST, queue::post);
        for (int place = 0; place < PLACES; place++) {
            all.post(place);
        }
    }

    SharedReceiveQueue queue() {
        return queue;
    }

    /// The same receives for another thread.
    Inbox inbox() {
        return new Inbox(ledger, memory, 0, STRIDE, Shape.LONGEST, queue::post);
    }
}
