package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.Rounding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/// The load of other programs on this machine while a benchmark runs. Figures of a busy machine are
/// meaningless.
///
/// @param others how many processors other programs use: 0.5 is half of one
/// @param stolen the share of the processors' time that the hypervisor gave to other machines, 0 to 1
/// @param processors how many there are
public record MachineLoad(double others, double stolen, int processors) {
    private static final Path STATISTICS = Path.of("/proc/stat");
    private static final Duration SAMPLE = Duration.ofMillis(250);
    private static final double TICK_SECONDS = 0.01;
    private static final double BUSY_OTHERS = 0.3;
    private static final double BUSY_STOLEN = 0.02;
    private static final int IDLE_FIELD = 3;
    private static final int WAITING_FIELD = 4;
    private static final int STEAL_FIELD = 7;

    /// The load is unknown.
    public static final MachineLoad UNKNOWN = new MachineLoad(0, 0, 1);

    /// The times that the kernel has counted since it started, in hundredths of a second of one processor.
    private record Ticks(long busy, long stolen, long all, int processors) {
        static Ticks now() throws IOException {
            List<String> lines = Files.readAllLines(STATISTICS);
            long[] numbers = List.of(lines.getFirst().substring(3).strip().split(" +", -1)).stream()
                    .mapToLong(Long::parseLong)
                    .limit(STEAL_FIELD + 1)
                    .toArray();
            long all = 0;
            for (long number : numbers) {
                all += number;
            }
            long stolen = numbers.length > STEAL_FIELD ? numbers[STEAL_FIELD] : 0;
            int processors = (int)
                    lines.stream().filter(line -> line.matches("cpu[0-9].*")).count();
            return new Ticks(
                    all - numbers[IDLE_FIELD] - numbers[WAITING_FIELD] - stolen, stolen, all, Math.max(1, processors));
        }
    }

    /// Measures for a quarter of a second, while this process sleeps. Returns [#UNKNOWN] if the kernel does not
    /// report the load.
    public static MachineLoad now() {
        try {
            Ticks before = Ticks.now();
            long began = System.nanoTime();
            long own = CpuTime.ofProcess();
            long end = began + SAMPLE.toNanos();
            for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            double seconds = (System.nanoTime() - began) / 1e9;
            double ownSeconds = (CpuTime.ofProcess() - own) / 1e9;
            Ticks after = Ticks.now();
            double busy = (after.busy - before.busy) * TICK_SECONDS;
            double all = Math.max(1, after.all - before.all);
            return new MachineLoad(
                    Math.max(0, (busy - ownSeconds) / seconds), (after.stolen - before.stolen) / all, after.processors);
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException _) {
            return UNKNOWN;
        }
    }

    /// Whether figures measured under this load mean little.
    public boolean isHigh() {
        return others > BUSY_OTHERS || stolen > BUSY_STOLEN;
    }

    /// The members of the JSON object.
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("processors_used_by_others", Rounding.to(others, 2));
        members.put("stolen_percent", Rounding.to(100 * stolen, 1));
        members.put("high", isHigh());
        return members;
    }

    /// The load in words.
    @Override
    public String toString() {
        return "other programs use %.1f of %d processors, and the hypervisor takes %.0f %% of the time"
                .formatted(others, processors, 100 * stolen);
    }
}
