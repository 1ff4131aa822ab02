/// Nodes that are all connected with each other: they meet at a [Rendezvous], which launchers such as `mpirun`,
/// `srun` and `torchrun` describe in their environment, and form a [Mesh].
///
/// Below it: `launch` finds out where the nodes meet, `join` connects them, and
/// [io.rdmacomm.comm.mesh.collective] has the operations of all nodes at once.
@NullMarked
package io.rdmacomm.comm.mesh;

import org.jspecify.annotations.NullMarked;
