/// Nodes that are all connected with each other: they meet at a [Rendezvous], which launchers such as `mpirun`,
/// `srun` and `torchrun` describe in their environment, and form a [Mesh].
///
/// Below it: `launch` finds out where the nodes meet, `join` connects them, and
/// [io.rdmacomm.mesh.collective] has the operations of all nodes at once.
///
/// Version 1.0 does not freeze this package: it is 0.x, and its types and methods may change with every minor version.
@NullMarked
package io.rdmacomm.mesh;

import org.jspecify.annotations.NullMarked;
