/// Meshes that are larger than this machine: set-up, memory and all-reduce of thousands of nodes on a simulated
/// network.
@NullMarked
package io.rdmacomm.tests.simulation;

import org.jspecify.annotations.NullMarked;
