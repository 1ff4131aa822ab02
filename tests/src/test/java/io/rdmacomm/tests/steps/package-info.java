/// Processes that are killed or stopped after each of their steps, and what their peers see of it.
@NullMarked
package io.rdmacomm.tests.steps;

import org.jspecify.annotations.NullMarked;
