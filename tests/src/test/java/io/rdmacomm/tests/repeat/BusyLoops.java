package io.rdmacomm.tests.repeat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Processes that do nothing but use a processor each.
final class BusyLoops implements AutoCloseable {
    /// Ends with the process that started it, however that ends.
    private static final String LOOP =
            "while kill -0 $PPID 2>/dev/null; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done";

    private final List<Process> processes = new ArrayList<>();

    private BusyLoops() {}

    static BusyLoops start(int count) throws IOException {
        BusyLoops loops = new BusyLoops();
        for (int i = 0; i < count; i++) {
            loops.processes.add(new ProcessBuilder("sh", "-c", LOOP).start());
        }
        return loops;
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
        for (Process process : processes) {
            process.onExit().join();
        }
    }
}
