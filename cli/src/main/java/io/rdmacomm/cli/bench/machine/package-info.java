/// What the machine itself needs and does while a benchmark runs.
@NullMarked
package io.rdmacomm.cli.bench.machine;

import org.jspecify.annotations.NullMarked;
