/// What a benchmark measures, and the figures.
@NullMarked
package io.rdmacomm.cli.bench.result;

import org.jspecify.annotations.NullMarked;
