package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.Providers;
import io.rdmacomm.verbs.spi.RdmaProvider;
import java.util.List;
import java.util.Set;

/// Entry point: the RDMA devices of this machine, from every provider on the class or module path.
public final class Rdma {
    private Rdma() {}

    /// All devices, hardware before software (ibv_get_device_list(3)). If the list is empty, [#unavailable()]
    /// gives the reasons.
    public static List<Device> devices() {
        return Providers.devices().stream().map(Device::of).toList();
    }

    /// The first of [#devices()].
    ///
    /// @throws VerbException ENODEV if there is none; the message gives the reasons
    public static Device device() {
        return Device.of(Providers.device(""));
    }

    /// The device called `name`. Some devices take parameters from their name and are not among [#devices()], for
    /// example `fault:soft0?fail=write:3:FLUSHED`.
    ///
    /// @throws IllegalArgumentException if the name is empty
    /// @throws VerbException ENODEV if there is no such device; the message lists the existing ones. EINVAL if the
    ///         parameters in the name are wrong
    public static Device device(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("the name of the device is empty; for the first device, omit it");
        }
        return Device.of(Providers.device(name));
    }

    /// Opens the first of [#devices()] (ibv_open_device(3)).
    ///
    /// @throws VerbException ENODEV if there is none, or the errno of opening it
    public static Context open() {
        return device().open();
    }

    /// Opens the device called `name` (ibv_open_device(3)).
    ///
    /// @throws IllegalArgumentException if the name is empty
    /// @throws VerbException ENODEV if there is no such device, or the errno of opening it
    public static Context open(String name) {
        return device(name).open();
    }

    /// The names of all providers, with or without devices.
    public static List<String> providerNames() {
        return Providers.all().stream().map(RdmaProvider::name).toList();
    }

    /// One line for each provider without devices: the reason, and what to do.
    public static List<String> unavailable() {
        return Providers.unavailable();
    }

    /// The open contexts of this process, for example to find leaks in tests.
    public static Set<Context> openContexts() {
        return Context.allOpen();
    }
}
