package io.rdmacomm.soft.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;

/// The send requests that bind and invalidate memory windows (ibv_bind_mw(3); type 2 means 2B: a window belongs to
/// the queue pair that bound it).
public final class WindowRequests {
    private static final int SUCCESS = 0;
    private static final int BIND_ERROR = WorkStatus.WINDOW_BIND_ERROR.code();
    private static final int WRITING = AccessFlag.REMOTE_WRITE.bit() | AccessFlag.REMOTE_ATOMIC.bit();

    private final LocalMemory memory;
    private final int number;
    private final int domain;

    /// For the queue pair with this number, in the protection domain with that number.
    public WindowRequests(LocalMemory memory, int number, int domain) {
        this.memory = memory;
        this.number = number;
        this.domain = domain;
    }

    /// Executes a request that concerns only this side.
    ///
    /// @return 0, or the code of the [WorkStatus] to fail with
    public int execute(MemorySegment request, long at) {
        return switch (request.get(JAVA_INT, at + SendRequestLayout.OPCODE)) {
            case RequestOpcode.LOCAL_INVALIDATE -> invalidate(request, at);
            case RequestOpcode.BIND_WINDOW -> bind(request, at);
            default -> WorkStatus.LOCAL_QUEUE_PAIR_ERROR.code();
        };
    }

    private int bind(MemorySegment request, long at) {
        LocalWindow window = memory.window(request.get(JAVA_LONG, at + SendRequestLayout.WINDOW));
        LocalRegion region = memory.region((int) request.get(JAVA_LONG, at + SendRequestLayout.WINDOW_REGION));
        int key = request.get(JAVA_INT, at + SendRequestLayout.WINDOW_KEY);
        long address = request.get(JAVA_LONG, at + SendRequestLayout.WINDOW_ADDRESS);
        long length = request.get(JAVA_LONG, at + SendRequestLayout.WINDOW_LENGTH);
        int access = request.get(JAVA_INT, at + SendRequestLayout.WINDOW_ACCESS);
        if (window == null || window.domain() != domain) {
            return BIND_ERROR;
        }
        boolean typeTwo = window.isTypeTwo();
        if (typeTwo && (memory.isBound(window) || (key >>> 8) != (window.key() >>> 8))) {
            return BIND_ERROR;
        }
        if (length == 0 && !typeTwo) {
            memory.unbind(window);
            window.announceKey(key);
            return SUCCESS;
        }
        if (region == null || !allowed(region, address, length, access)) {
            return BIND_ERROR;
        }
        memory.bind(window, key, region, address, length, access, typeTwo ? number : 0);
        return SUCCESS;
    }

    private boolean allowed(LocalRegion region, long address, long length, int access) {
        return region.domain() == domain
                && region.allows(AccessFlag.WINDOW_BIND.bit())
                && !region.allows(AccessFlag.ZERO_BASED.bit())
                && !AccessFlag.ZERO_BASED.in(access)
                && ((access & WRITING) == 0 || region.allows(AccessFlag.LOCAL_WRITE.bit()))
                && region.contains(address, length);
    }

    /// Invalidates a local key (IBV_WR_LOCAL_INV): that of a bound type 2 window.
    private int invalidate(MemorySegment request, long at) {
        int key = request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
        LocalWindow window = memory.window(key >>> 16);
        if (window == null || !window.isTypeTwo() || window.key() != key || !memory.isBound(window)) {
            return BIND_ERROR;
        }
        memory.unbind(window);
        return SUCCESS;
    }
}
