/// Nodes that are all connected with each other: they meet at a [Rendezvous], which launchers such as `mpirun`,
/// `srun` and `torchrun` describe in their environment, and form a [Mesh].
@NullMarked
package io.rdmacomm.comm.mesh;

import org.jspecify.annotations.NullMarked;
