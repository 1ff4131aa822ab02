package io.rdmacomm.compare;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/// rdmacomm itself, as `rdmacomm bench` measures it: the ends are where that command places them.
final class Rdmacomm implements Contestant {
    /// Options of the JVM for the software device over TCP, as between hosts but without a checksum, as the others.
    static final Map<String, String> OVER_TCP =
            Map.of("RDMACOMM_JAVA_OPTS", "-Drdmacomm.soft.devices=soft0=127.0.0.1?sharedMemory=false&checksum=false");

    private final Setting setting;
    private final Unit unit;
    private final String test;
    private final long bytes;
    private final List<String> options;
    private final Map<String, String> environment;
    private Map<?, ?> machine = Map.of();
    private OptionalDouble floor = OptionalDouble.empty();

    /// @param test of `rdmacomm bench`
    /// @param options for example the device
    /// @param environment of the process
    Rdmacomm(
            Setting setting,
            Unit unit,
            String test,
            long bytes,
            List<String> options,
            Map<String, String> environment) {
        this.setting = setting;
        this.unit = unit;
        this.test = test;
        this.bytes = bytes;
        this.options = options;
        this.environment = environment;
    }

    @Override
    public String name() {
        return "rdmacomm " + test;
    }

    @Override
    public String contains() {
        return switch (unit) {
            case SHORT_ONE_WAY -> "median of groups of 64 messages, as by default; completions of both ends";
            case ONE_WAY -> "mean of the run, no clock reading per message; completions of both ends";
            case ROUND_TRIP -> "mean of the run, no clock reading per message; blocking calls that sleep";
            case CPU -> "CPU time of the threads of both ends, which poll";
            case BANDWIDTH, RATE -> "first post to last completion; chains of up to 32 messages up to 4 KiB";
            default -> throw new IllegalArgumentException("rdmacomm bench does not measure " + unit.text());
        };
    }

    @Override
    public String absence() {
        return "";
    }

    /// The environment that the last measurement reported.
    Map<?, ?> machine() {
        return machine;
    }

    @Override
    public OptionalDouble floor() {
        return floor;
    }

    @Override
    public double measure() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(setting.command(), "bench", "--tests", test));
        command.addAll(List.of("--sizes", "" + bytes, "--duration", "" + setting.seconds()));
        command.addAll(List.of("--warmup", "" + setting.warmUpSeconds(), "--json", "-"));
        if (unit != Unit.SHORT_ONE_WAY) {
            command.addAll(List.of("--no-floors", "--no-samples"));
        }
        if (setting.processors().isEmpty()) {
            command.add("--no-pin");
        }
        command.addAll(options);
        return figure(Programs.run(new Programs.Pair(List.of(), command, environment, 0, false)));
    }

    private double figure(String output) throws IOException {
        // A message on the standard error stream may come first.
        Map<String, Object> document = JSON.std.mapFrom(output.substring(Math.max(0, output.indexOf('{'))));
        if (document.get("environment") instanceof Map<?, ?> found) {
            machine = found;
        }
        Map<?, ?> row = (Map<?, ?>) ((List<?>) document.getOrDefault("results", List.of(Map.of()))).getFirst();
        String member = switch (unit) {
            case SHORT_ONE_WAY -> "p50_us";
            case ONE_WAY, ROUND_TRIP -> "avg_us";
            case BANDWIDTH -> "gbps";
            case RATE -> "million_messages_per_second";
            case CPU -> "cpu_us_per_gb";
            default -> throw new IllegalArgumentException("rdmacomm bench does not measure " + unit.text());
        };
        if (!(row.get(member) instanceof Number figure)) {
            throw new MeasurementException("rdmacomm bench reported no " + member + ": " + output);
        }
        floor = floor(row, figure.doubleValue());
        return figure.doubleValue();
    }

    /// The median floor of all parts of a run; not a number if the difference of the medians is not the median
    /// difference, because the machine changed its state.
    private static OptionalDouble floor(Map<?, ?> row, double figure) {
        return row.get("floor_us") instanceof Number floor && row.get("above_floor_us") instanceof Number above
                ? OptionalDouble.of(Comparison.between(floor.doubleValue(), figure - above.doubleValue()))
                : OptionalDouble.empty();
    }
}
