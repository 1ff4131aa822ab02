/// All-to-all traffic between the nodes of a mesh: how it is made, checked, measured and reported.
@NullMarked
package io.rdmacomm.cli.mesh;

import org.jspecify.annotations.NullMarked;
