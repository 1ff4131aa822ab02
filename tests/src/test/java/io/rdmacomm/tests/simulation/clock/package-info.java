/// Simulated ranks and what time passes for them.
@NullMarked
package io.rdmacomm.tests.simulation.clock;

import org.jspecify.annotations.NullMarked;
