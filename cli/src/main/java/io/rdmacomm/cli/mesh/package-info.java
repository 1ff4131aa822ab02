/// All-to-all traffic and collectives between the nodes of a mesh: how they are made, checked, measured and reported.
@NullMarked
package io.rdmacomm.cli.mesh;

import org.jspecify.annotations.NullMarked;
