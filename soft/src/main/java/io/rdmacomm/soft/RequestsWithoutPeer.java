package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;

/// The requests of a queue pair whose peer has not been found. Executes those that need no peer, and checks the
/// local memory of the others. Under the queue pair's send lock.
final class RequestsWithoutPeer {
    private static final int SUCCESS = 0;
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final RequestQueue sends;
    private final WindowRequests windowRequests;
    private final ElementList elements = new ElementList(ElementList.MAX_ELEMENTS);

    RequestsWithoutPeer(RequestQueue sends, WindowRequests windowRequests) {
        this.sends = sends;
        this.windowRequests = windowRequests;
    }

    /// Executes requests, up to the first that needs a peer.
    ///
    /// @return 0, or the status that the oldest request fails with
    int execute() {
        MemorySegment request = sends.segment();
        while (!sends.isEmpty()) {
            long at = sends.headAt();
            int opcode = request.get(JAVA_INT, at + SendRequestLayout.OPCODE);
            if (!RequestOpcode.isLocal(opcode)) {
                return check(request, at, opcode);
            }
            int status = windowRequests.execute(request, at);
            if (status != SUCCESS) {
                return status;
            }
            sends.completer().succeed(request, at);
            sends.removeHead();
        }
        return SUCCESS;
    }

    private int check(MemorySegment request, long at, int opcode) {
        elements.clear();
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        int right = RequestOpcode.isRead(opcode) ? LOCAL_WRITE : 0;
        int status = sends.localElements().resolve(elements, request, at, flags, right);
        boolean tooShort = RequestOpcode.isAtomic(opcode) && elements.total < Long.BYTES;
        return status == SUCCESS && tooShort ? WorkStatus.LOCAL_LENGTH_ERROR.code() : status;
    }
}
