package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Makes the send request of ibv_bind_mw(3). Control path: it allocates.
final class BindRequest {
    private static final int POSSIBLE_FLAGS = SendRequestLayout.FLAG_SIGNALED | SendRequestLayout.FLAG_FENCE;

    private BindRequest() {}

    static SendRequest create(
            Arena arena,
            long workId,
            MemoryWindowDriver window,
            MemoryRegionDriver region,
            long address,
            long length,
            int access,
            int flags) {
        MemorySegment segment = arena.allocate(SendRequestLayout.BYTES, Long.BYTES);
        long at = new RequestChain(segment, 1, SendRequestLayout.BYTES, 0).at(0);
        SendRequest request = new SendRequest(segment, at, 0);
        request.begin(workId, RequestOpcode.BIND_WINDOW, 0);
        request.flags = flags & POSSIBLE_FLAGS;
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW, window.handle());
        segment.set(JAVA_INT, at + SendRequestLayout.WINDOW_KEY, MemoryWindow.nextKey(window.remoteKey()));
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW_REGION, region.handle());
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW_ADDRESS, address);
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW_LENGTH, length);
        segment.set(JAVA_INT, at + SendRequestLayout.WINDOW_ACCESS, access);
        return request;
    }
}
