/// Both sides of a benchmark.
@NullMarked
package io.rdmacomm.cli.bench.trial;

import org.jspecify.annotations.NullMarked;
