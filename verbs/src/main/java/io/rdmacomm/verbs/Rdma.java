package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.RdmaProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;

/// Entry point: the RDMA devices of this machine, from every provider on the class or module path.
public final class Rdma {
    private Rdma() {}

    /// All devices, hardware before software (ibv_get_device_list(3)). If the list is empty, [#unavailable()]
    /// gives the reasons.
    public static List<Device> devices() {
        return providers().stream()
                .flatMap(provider -> provider.devices().stream())
                .toList();
    }

    /// The device called `name`, or the first one if `name` is empty. Some devices take parameters from their name
    /// and are not among [#devices()], for example `fault:soft0?fail=write:3:FLUSHED`.
    ///
    /// @throws VerbException ENODEV if there is no such device; the message lists the existing ones. EINVAL if the
    ///         parameters in the name are wrong
    public static Device device(String name) {
        List<Device> devices = devices();
        for (Device device : devices) {
            if (name.isEmpty() || device.name().equals(name)) {
                return device;
            }
        }
        for (RdmaProvider provider : providers()) {
            Optional<Device> named = provider.device(name);
            if (named.isPresent()) {
                return named.get();
            }
        }
        List<String> names = devices.stream().map(Device::name).toList();
        throw new VerbException(
                "find device" + (name.isEmpty() ? "" : " '" + name + "'"),
                Errno.ENODEV,
                names.isEmpty()
                        ? "no device is available: " + String.join("; ", unavailable())
                        : "the devices are " + names);
    }

    /// Opens the device called `name`, or the first one if `name` is empty (ibv_open_device(3)).
    ///
    /// @throws VerbException ENODEV if there is no such device, or the errno of opening it
    public static Context open(String name) {
        return device(name).open();
    }

    /// The names of all providers, with or without devices.
    public static List<String> providerNames() {
        return providers().stream().map(RdmaProvider::name).toList();
    }

    /// One line for each provider without devices: the reason, and what to do.
    public static List<String> unavailable() {
        List<String> reasons = new ArrayList<>();
        List<RdmaProvider> providers = providers();
        if (providers.isEmpty()) {
            reasons.add("there is no provider on the class path; add rdmacomm-soft");
        }
        for (RdmaProvider provider : providers) {
            provider.unavailable().ifPresent(reason -> reasons.add(provider.name() + ": " + reason));
        }
        return reasons;
    }

    /// The open contexts of this process, for example to find leaks in tests.
    public static Set<Context> openContexts() {
        return Context.allOpen();
    }

    private static List<RdmaProvider> providers() {
        List<RdmaProvider> providers = new ArrayList<>();
        ServiceLoader.load(RdmaProvider.class, Rdma.class.getClassLoader()).forEach(providers::add);
        // "ibverbs" sorts before "soft": hardware comes first.
        providers.sort(Comparator.comparing(RdmaProvider::name));
        return providers;
    }
}
