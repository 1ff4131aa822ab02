package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Device;
import java.util.List;
import java.util.Optional;

/// A source of RDMA devices, found by [java.util.ServiceLoader].
///
/// A provider whose library or hardware is missing returns no devices and says why in [#unavailable()]: absence is
/// a value, never a link error.
public interface RdmaProvider {
    /// The short name of the provider, for example `soft`.
    String name();

    /// The devices that can be opened now, in a stable order; empty when there are none. Any thread may call this.
    List<Device> devices();

    /// One line that says why [#devices()] is empty and what to do about it; empty when there are devices.
    Optional<String> unavailable();
}
