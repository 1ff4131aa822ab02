package io.rdmacomm.verbs.spi;

import java.util.List;
import java.util.Optional;

/// A source of RDMA devices, found by [java.util.ServiceLoader].
///
/// A provider without its library or hardware returns no devices, and the reason in [#unavailable()]; it does
/// not throw a link error.
public interface RdmaProvider {
    /// The short name of the provider, for example `soft`.
    String name();

    /// The devices that can be opened now, in a stable order; empty if there are none. Thread-safe.
    List<DeviceDriver> devices();

    /// The device called `name` if it is not among [#devices()] because it takes parameters from its name.
    /// Thread-safe.
    ///
    /// @return empty if `name` does not name a device of this provider
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if it does, but with wrong parameters
    default Optional<DeviceDriver> device(String name) {
        return Optional.empty();
    }

    /// One line with the reason why [#devices()] is empty, and what to do; empty if there are devices, or if they
    /// are only made by name.
    Optional<String> unavailable();

    /// The version of this package that the provider was written for. It increases when drivers have new
    /// obligations; new methods with defaults do not count. A provider of a later version than
    /// [Providers#DRIVER_VERSION] is not used.
    default int driverVersion() {
        return 1;
    }
}
