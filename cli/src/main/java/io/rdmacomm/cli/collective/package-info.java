/// The measurements of collectives between the nodes of a mesh.
@NullMarked
package io.rdmacomm.cli.collective;

import org.jspecify.annotations.NullMarked;
