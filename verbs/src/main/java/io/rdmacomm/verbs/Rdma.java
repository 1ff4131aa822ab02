package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.RdmaProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;

/// The way in: the RDMA devices of this machine, those of every provider on the class or module path.
public final class Rdma {
    private Rdma() {}

    /// All devices, hardware before software (ibv_get_device_list(3)). Empty when there is none; [#unavailable()]
    /// says why.
    public static List<Device> devices() {
        return providers().stream()
                .flatMap(provider -> provider.devices().stream())
                .toList();
    }

    /// The device called `name`, or the first one when `name` is empty.
    ///
    /// @throws VerbException ENODEV if there is no such device; the message lists those there are
    public static Device device(String name) {
        List<Device> devices = devices();
        for (Device device : devices) {
            if (name.isEmpty() || device.name().equals(name)) {
                return device;
            }
        }
        List<String> names = devices.stream().map(Device::name).toList();
        throw new VerbException(
                "find device" + (name.isEmpty() ? "" : " '" + name + "'"),
                Errno.ENODEV,
                names.isEmpty() ? "there is none: " + String.join("; ", unavailable()) : "there are " + names);
    }

    /// Opens the device called `name`, or the first one when `name` is empty (ibv_open_device(3)).
    ///
    /// @throws VerbException ENODEV if there is no such device, or the errno of opening it
    public static Context open(String name) {
        return device(name).open();
    }

    /// The names of the providers that were found, whether or not they have devices.
    public static List<String> providerNames() {
        return providers().stream().map(RdmaProvider::name).toList();
    }

    /// For each provider without devices one line that says why and what to do.
    public static List<String> unavailable() {
        List<String> reasons = new ArrayList<>();
        List<RdmaProvider> providers = providers();
        if (providers.isEmpty()) {
            reasons.add("no provider on the class path; add rdmacomm-soft");
        }
        for (RdmaProvider provider : providers) {
            provider.unavailable().ifPresent(reason -> reasons.add(provider.name() + ": " + reason));
        }
        return reasons;
    }

    /// The contexts that are open in this process; a test that leaves one behind has leaked it.
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
