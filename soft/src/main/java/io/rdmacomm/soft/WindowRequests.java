package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.shm.ControlLayout;
import io.rdmacomm.soft.shm.KeyTable;
import io.rdmacomm.soft.shm.SharedWords;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;

/// The send requests that bind and invalidate memory windows (ibv_bind_mw(3); type 2 is 2B: a window belongs to
/// the queue pair that bound it).
final class WindowRequests {
    private static final int BIND_ERROR = WorkStatus.WINDOW_BIND_ERROR.code();
    private static final int WRITING = AccessFlag.REMOTE_WRITE.bit() | AccessFlag.REMOTE_ATOMIC.bit();

    private final SoftContext context;
    private final int number;
    private final int domain;

    WindowRequests(SoftContext context, int number, int domain) {
        this.context = context;
        this.number = number;
        this.domain = domain;
    }

    int bind(MemorySegment request, long at) {
        SoftMemoryWindow window = context.windows().get(request.get(JAVA_LONG, at + SendRequestLayout.WINDOW));
        SoftMemoryRegion region =
                context.regions().find((int) request.get(JAVA_LONG, at + SendRequestLayout.WINDOW_REGION));
        int key = request.get(JAVA_INT, at + SendRequestLayout.WINDOW_KEY);
        long address = request.get(JAVA_LONG, at + SendRequestLayout.WINDOW_ADDRESS);
        long length = request.get(JAVA_LONG, at + SendRequestLayout.WINDOW_LENGTH);
        int access = request.get(JAVA_INT, at + SendRequestLayout.WINDOW_ACCESS);
        if (window == null || window.domainNumber() != domain) {
            return BIND_ERROR;
        }
        boolean typeTwo = window.type() == MemoryWindowType.TYPE_2;
        if (typeTwo && (window.isBound() || (key >>> 8) != (window.remoteKey() >>> 8))) {
            return BIND_ERROR;
        }
        if (length == 0 && !typeTwo) {
            window.invalidate();
            window.announceKey(key);
            return RequestExecutor.DONE;
        }
        if (region == null || !allowed(region, address, length, access)) {
            return BIND_ERROR;
        }
        window.invalidate();
        long offset = region.offsetOf(address);
        window.attach(key, region);
        context.keys()
                .grant(
                        key,
                        KeyTable.WINDOW,
                        new KeyTable.Grant(
                                address,
                                length,
                                access,
                                domain,
                                region.fileNumber(),
                                offset,
                                typeTwo ? number : 0,
                                region.localKey()));
        return RequestExecutor.DONE;
    }

    private boolean allowed(SoftMemoryRegion region, long address, long length, int access) {
        return region.domainNumber() == domain
                && region.allows(AccessFlag.WINDOW_BIND.bit())
                && !region.allows(AccessFlag.ZERO_BASED.bit())
                && !AccessFlag.ZERO_BASED.in(access)
                && ((access & WRITING) == 0 || region.allows(AccessFlag.LOCAL_WRITE.bit()))
                && region.contains(address, length);
    }

    /// Invalidates a key of this side (IBV_WR_LOCAL_INV): that of a window of type 2 which is bound.
    int invalidate(MemorySegment request, long at) {
        int key = request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
        SoftMemoryWindow window = context.windows().get((long) (key >>> 16));
        if (window == null
                || window.type() != MemoryWindowType.TYPE_2
                || window.remoteKey() != key
                || !window.isBound()) {
            return BIND_ERROR;
        }
        window.invalidate();
        return RequestExecutor.DONE;
    }

    /// Invalidates a key of the peer (IBV_WR_SEND_WITH_INV): that of a window of type 2 which the peer's queue
    /// pair bound.
    boolean invalidateRemote(PeerQueuePair peer, int key) {
        long entry = ControlLayout.key(key);
        MemorySegment memory = peer.memory();
        return peer.hasKey(key)
                && memory.get(JAVA_INT, entry + ControlLayout.KEY_QUEUE_PAIR) == peer.number()
                && SharedWords.compareAndSet(
                        memory, entry + ControlLayout.KEY_WORD, KeyTable.word(key, KeyTable.WINDOW), 0);
    }
}
