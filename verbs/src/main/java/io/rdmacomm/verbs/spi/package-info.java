/// The interfaces that a provider of devices implements, and the memory layouts that it reads: the internal
/// side of the verbs, like `driver.h` next to `verbs.h` in rdma-core.
///
/// A provider is an [RdmaProvider], which [java.util.ServiceLoader] finds. Its drivers create one another: a
/// [DeviceDriver] opens a [ContextDriver], which creates the rest. The final classes of [io.rdmacomm.verbs]
/// and [io.rdmacomm.verbs.cm] hold them and do everything that is common to all providers: they check
/// arguments, capabilities and states, count the slots of the queues, hold the locks, and close objects in
/// order. So a driver gets checked arguments only, and is called only while its object and its parents are
/// open.
///
/// A driver that gets another driver uses only its handle or number to find its own object. So a provider can
/// wrap some drivers of another provider and pass all others through. Methods that a driver does not
/// implement are unsupported; a provider without a verb need not know that it exists.
///
/// ## How it changes
/// Version 1.0 does not freeze this package, because devices get new verbs. Interfaces may get methods with defaults,
/// and enums constants, in every version; providers need no change for these. Other changes come with a minor version
/// of rdmacomm and a higher [RdmaProvider#driverVersion()].
@NullMarked
package io.rdmacomm.verbs.spi;

import org.jspecify.annotations.NullMarked;
