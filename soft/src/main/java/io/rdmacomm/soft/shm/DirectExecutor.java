package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.spi.DirectRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Executes requests that are given as plain values, if nothing is in their way: the fast way for what a
/// [RequestExecutor] does. Under the queue pair's send lock; allocates nothing.
///
/// It has no errors of its own. Whatever is not the good case ends as [Outcome#NOT_DIRECT], before it has an
/// effect that the peer could notice, and the executor then repeats the request and finds its status.
final class DirectExecutor {
    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final LocalElements localElements;
    private final PeerQueuePair peer;
    private final Delivery delivery;

    DirectExecutor(LocalElements localElements, PeerQueuePair peer, Delivery delivery) {
        this.localElements = localElements;
        this.peer = peer;
        this.delivery = delivery;
    }

    /// Executes a request.
    ///
    /// @return [Outcome#DONE], [Outcome#NOT_DIRECT], or the status of a request that failed after it took a receive
    int execute(DirectRequest request) {
        return switch (request.opcode) {
            case RequestOpcode.WRITE -> write(request);
            case RequestOpcode.SEND, RequestOpcode.SEND_WITH_IMMEDIATE -> send(request);
            case RequestOpcode.WRITE_WITH_IMMEDIATE -> writeWithImmediate(request);
            case RequestOpcode.READ -> read(request);
            default -> Outcome.NOT_DIRECT;
        };
    }

    private int write(DirectRequest request) {
        LocalRegion local = find(request, 0);
        MemorySegment remote = local == null ? null : findRemote(request, REMOTE_WRITE);
        if (local == null || remote == null) {
            return Outcome.NOT_DIRECT;
        }
        long from = local.offsetOf(request.address);
        ElementList.copyPiece(local.segment(), from, remote, peer.foundOffset(), request.length);
        return Outcome.DONE;
    }

    private int writeWithImmediate(DirectRequest request) {
        if (!peer.isReady() || peer.oldestReceive() < 0) {
            return Outcome.NOT_DIRECT;
        }
        int result = request.length == 0 ? Outcome.DONE : write(request);
        return result == Outcome.DONE ? delivery.writeWithImmediate(request) : result;
    }

    private int read(DirectRequest request) {
        LocalRegion local = find(request, LOCAL_WRITE);
        MemorySegment remote = local == null ? null : findRemote(request, REMOTE_READ);
        if (local == null || remote == null) {
            return Outcome.NOT_DIRECT;
        }
        long to = local.offsetOf(request.address);
        ElementList.copyPiece(remote, peer.foundOffset(), local.segment(), to, request.length);
        return Outcome.DONE;
    }

    private int send(DirectRequest request) {
        LocalRegion local = find(request, 0);
        if ((local == null && request.length != 0) || !peer.isReady()) {
            return Outcome.NOT_DIRECT;
        }
        return delivery.send(request, local);
    }

    private @Nullable LocalRegion find(DirectRequest request, int right) {
        return request.length == 0
                ? null
                : localElements.find(request.localKey, request.address, request.length, right);
    }

    private @Nullable MemorySegment findRemote(DirectRequest request, int right) {
        return peer.isReady() && (peer.access() & right) != 0
                ? peer.find(request.remoteKey, request.remoteAddress, request.length, right, peer.domain(), true)
                : null;
    }
}
