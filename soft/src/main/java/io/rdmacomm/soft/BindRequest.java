package io.rdmacomm.soft;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendRequestLayout;
import java.lang.foreign.Arena;

/// Makes the send request behind ibv_bind_mw(3). Control path: it allocates.
final class BindRequest {
    private BindRequest() {}

    static SendBatch create(
            Arena arena,
            long workId,
            MemoryWindow window,
            int key,
            MemoryRegion region,
            long offset,
            long length,
            int access,
            int flags) {
        SendBatch batch = SendBatch.create(arena, 1, 1)
                .bindWindow(workId, window, key, region, offset, length, AccessFlag.of(access));
        if ((flags & SendRequestLayout.FLAG_SIGNALED) != 0) {
            batch.signaled();
        }
        if ((flags & SendRequestLayout.FLAG_FENCE) != 0) {
            batch.fenced();
        }
        return batch;
    }
}
