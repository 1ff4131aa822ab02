/// The interfaces that a provider of devices implements, and the memory layouts that it reads: the side of the verbs
/// that users never see, as `driver.h` is beside `verbs.h` in rdma-core.
///
/// A provider is an [RdmaProvider], which [java.util.ServiceLoader] finds. Its drivers come from one another:
/// a [DeviceDriver] opens a [ContextDriver], which creates the rest. The final classes of [io.rdmacomm.verbs]
/// and [io.rdmacomm.verbs.cm] hold them and do everything that is the same for all providers: they check
/// arguments, capabilities and states, count the slots of the queues, hold the locks, and close objects in
/// their order. So a driver is called with what was checked, and only while its object and its parents are
/// open.
///
/// A driver that is given another one asks it for nothing but its handle or number, and finds its own object
/// by that. So a provider can wrap some drivers of another provider and pass all others through. What a
/// driver does not implement is unsupported; a provider that lacks a verb need not know that it exists.
///
/// This package is versioned apart from those of users: see [RdmaProvider#driverVersion()].
@NullMarked
package io.rdmacomm.verbs.spi;

import org.jspecify.annotations.NullMarked;
