/// libibverbs' vocabulary as Java types: devices, protection domains, memory regions, queue pairs, completion
/// queues. Argument checks, the state table, lifetime and queue depth are implemented here for all providers.
///
/// ## How it changes
/// Version 1.0 freezes this package: versions follow Semantic Versioning, and a program that compiles and runs with
/// one version does so with all later ones of the same major version. What a later version may add:
///
/// - Constants of every enum. A `switch` over one needs a `default`.
/// - Methods of classes. Options and attributes are final classes without public constructors: programs make them with
///   a factory and change copies of them with the `with` methods. A new option has a default that changes nothing.
/// - Subclasses of [RdmaException].
///
/// Records keep their components, which define the type, as in [QueuePairInfo] and [RemoteMemory]. The
/// interfaces of `io.rdmacomm.verbs.spi` are for providers, and are versioned separately.
///
/// Packages that the module exports to this project's modules only have no compatibility.
@NullMarked
package io.rdmacomm.verbs;

import org.jspecify.annotations.NullMarked;
