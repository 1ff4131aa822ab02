/// How nodes become a mesh: they register at the rendezvous, connect to each other, and wait until all have done
/// so. [Joining] has the steps of a node; `RendezvousServer` is the place where they meet.
@NullMarked
package io.rdmacomm.mesh.join;

import org.jspecify.annotations.NullMarked;
