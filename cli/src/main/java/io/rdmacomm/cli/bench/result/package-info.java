/// The measurements of a benchmark, and their figures.
@NullMarked
package io.rdmacomm.cli.bench.result;

import org.jspecify.annotations.NullMarked;
