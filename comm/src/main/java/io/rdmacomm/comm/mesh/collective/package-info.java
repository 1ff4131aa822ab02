/// Operations of all nodes of a mesh at once: barrier, broadcast, reduce, all-reduce, all-gather, reduce-scatter
/// and all-to-all. A program gets its [Collectives] from [io.rdmacomm.comm.mesh.Mesh#collectives()].
///
/// From the top: `CollectiveEngine` runs one call at a time. `Algorithms` executes it with the `...Algorithms`
/// classes, which access each other rank through a `Lane`. `ChannelLane` is one stream over the channel to a rank.
@NullMarked
package io.rdmacomm.comm.mesh.collective;

import org.jspecify.annotations.NullMarked;
