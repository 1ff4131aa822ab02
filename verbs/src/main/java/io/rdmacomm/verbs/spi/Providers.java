package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/// The providers on the class or module path, and their devices: for [io.rdmacomm.verbs.Rdma], and for providers that
/// wrap devices of others. Thread-safe.
public final class Providers {
    /// The version of this package.
    public static final int DRIVER_VERSION = 1;

    private static volatile @Nullable List<RdmaProvider> found;

    private Providers() {}

    /// All providers, those of hardware first. They are loaded once.
    public static List<RdmaProvider> all() {
        List<RdmaProvider> known = found;
        if (known == null) {
            known = load();
            found = known;
        }
        return known;
    }

    private static List<RdmaProvider> load() {
        List<RdmaProvider> providers = new ArrayList<>();
        for (RdmaProvider each : ServiceLoader.load(RdmaProvider.class, Providers.class.getClassLoader())) {
            providers.add(each);
        }
        // "ibverbs" sorts before "soft": hardware comes first.
        providers.sort((first, second) -> first.name().compareTo(second.name()));
        return List.copyOf(providers);
    }

    /// All devices, hardware before software.
    public static List<DeviceDriver> devices() {
        List<DeviceDriver> devices = new ArrayList<>();
        for (RdmaProvider provider : all()) {
            if (isKnown(provider)) {
                devices.addAll(provider.devices());
            }
        }
        return List.copyOf(devices);
    }

    /// The device called `name`, or the first one if `name` is empty.
    ///
    /// @throws VerbException ENODEV if there is no such device; the message lists the existing ones. EINVAL if the
    ///         parameters in the name are wrong
    public static DeviceDriver device(String name) {
        List<DeviceDriver> devices = devices();
        for (DeviceDriver device : devices) {
            if (name.isEmpty() || device.name().equals(name)) {
                return device;
            }
        }
        for (RdmaProvider provider : all()) {
            Optional<DeviceDriver> named = isKnown(provider) ? provider.device(name) : Optional.empty();
            if (named.isPresent()) {
                return named.get();
            }
        }
        List<String> names = devices.stream().map(DeviceDriver::name).toList();
        throw new VerbException(
                "find device" + (name.isEmpty() ? "" : " '" + name + "'"),
                Errno.ENODEV,
                names.isEmpty()
                        ? "no device is available: " + String.join("; ", unavailable())
                        : "the devices are " + names);
    }

    /// One line for each provider without devices: the reason, and what to do.
    public static List<String> unavailable() {
        List<String> reasons = new ArrayList<>();
        List<RdmaProvider> providers = all();
        if (providers.isEmpty()) {
            reasons.add("there is no provider on the class path; add rdmacomm-soft");
        }
        for (RdmaProvider provider : providers) {
            whyNot(provider).ifPresent(reason -> reasons.add(provider.name() + ": " + reason));
        }
        return reasons;
    }

    private static Optional<String> whyNot(RdmaProvider provider) {
        return isKnown(provider)
                ? provider.unavailable()
                : Optional.of("made for version " + provider.driverVersion() + " of the driver interface, this is "
                        + DRIVER_VERSION + "; update rdmacomm-verbs");
    }

    private static boolean isKnown(RdmaProvider provider) {
        return provider.driverVersion() <= DRIVER_VERSION;
    }
}
