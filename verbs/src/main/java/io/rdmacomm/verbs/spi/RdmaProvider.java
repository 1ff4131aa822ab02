package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Device;
import java.util.List;
import java.util.Optional;

/// A source of RDMA devices, found by [java.util.ServiceLoader].
///
/// A provider without its library or hardware returns no devices, and the reason in [#unavailable()]; it throws no
/// link error.
public interface RdmaProvider {
    /// The short name of the provider, for example `soft`.
    String name();

    /// The devices that can be opened now, in a stable order; empty if there are none. Thread-safe.
    List<Device> devices();

    /// One line with the reason why [#devices()] is empty, and what to do; empty if there are devices.
    Optional<String> unavailable();
}
