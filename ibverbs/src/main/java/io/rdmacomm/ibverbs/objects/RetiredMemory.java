package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.spi.Driver;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The memory of closed regions, while polling may still write to it. Thread-safe.
///
/// mlx5 and others put a short message into its completion, and ibv_poll_cq(3) copies it to the address in the request
/// (`mlx5_copy_to_recv_wqe`), whether the region is registered or not. Destroying a queue pair removes its completions
/// (`__mlx5_cq_clean`). So the addresses of a closed region stay mapped, with nothing behind them, until the queues
/// that were open when it was closed are destroyed.
final class RetiredMemory {
    /// Memory of a closed region.
    ///
    /// @param memory its addresses
    /// @param queues the queues that may have requests with these addresses
    private record Retired(OwnedMemory memory, Set<Driver> queues) {}

    private final Set<Driver> openQueues = new HashSet<>();
    private final List<Retired> retired = new ArrayList<>();

    /// A queue pair or a shared receive queue was created.
    synchronized void opened(Driver queue) {
        openQueues.add(queue);
    }

    /// A queue pair or a shared receive queue was destroyed.
    synchronized void destroyed(Driver queue) {
        openQueues.remove(queue);
        retired.removeIf(each -> {
            boolean last = each.queues().remove(queue) && each.queues().isEmpty();
            if (last) {
                // It fails while a system call of the program uses the memory of a file.
                Closer.step(each.memory(), each.memory()::free);
            }
            return last;
        });
    }

    /// A region was deregistered: frees its memory, now or later.
    synchronized void add(OwnedMemory memory) {
        if (openQueues.isEmpty()) {
            memory.free();
        } else {
            memory.discard();
            retired.add(new Retired(memory, new HashSet<>(openQueues)));
        }
    }
}
