/// The limits of the machine, and its load while a benchmark runs.
@NullMarked
package io.rdmacomm.cli.bench.machine;

import org.jspecify.annotations.NullMarked;
