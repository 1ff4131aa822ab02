/// The contract suite and the faults of devices, run inside the lab.
@NullMarked
package io.rdmacomm.tests.lab;

import org.jspecify.annotations.NullMarked;
