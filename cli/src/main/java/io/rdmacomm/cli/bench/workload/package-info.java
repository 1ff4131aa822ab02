/// The loops that a benchmark measures.
@NullMarked
package io.rdmacomm.cli.bench.workload;

import org.jspecify.annotations.NullMarked;
