package io.rdmacomm.fault;

import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.Providers;
import io.rdmacomm.verbs.spi.RdmaProvider;
import java.util.List;
import java.util.Optional;

/// Opens devices with names such as `fault:soft0?fail=write:3:REMOTE_ACCESS_ERROR`: device `soft0`, and rules for
/// the faults that it injects. Without rules the device behaves like the wrapped one. Lists no devices.
public final class FaultProvider implements RdmaProvider {
    static final String NAME = "fault";
    private static final String PREFIX = NAME + ":";

    /// For [java.util.ServiceLoader].
    public FaultProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<DeviceDriver> devices() {
        return List.of();
    }

    @Override
    public Optional<DeviceDriver> device(String name) {
        if (!name.startsWith(PREFIX)) {
            return Optional.empty();
        }
        // The last question mark, because the wrapped device may have rules too.
        int mark = name.lastIndexOf('?');
        String wrapped = name.substring(PREFIX.length(), mark < 0 ? name.length() : mark);
        FaultPlan plan = new PlanParser(name).parse(mark < 0 ? "" : name.substring(mark + 1));
        DeviceDriver real = Providers.device(wrapped);
        return Optional.of(new FaultDevice(PREFIX + real.name() + plan.suffix(), real, plan));
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }
}
