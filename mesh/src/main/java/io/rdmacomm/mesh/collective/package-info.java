/// Operations of all nodes of a mesh at once: barrier, broadcast, reduce, all-reduce, all-gather, reduce-scatter
/// and all-to-all. A program gets its [Collectives] from [io.rdmacomm.mesh.Mesh#collectives()].
///
/// From the top: `CollectiveEngine` runs one call at a time. `Algorithms` executes it with the `...Algorithms`
/// classes, which access each other rank through a `Lane`. `ChannelLane` is one stream over the channel to a rank.
///
/// Version 1.0 does not freeze this package: it is 0.x, and its types and methods may change with every minor version.
@NullMarked
package io.rdmacomm.mesh.collective;

import org.jspecify.annotations.NullMarked;
