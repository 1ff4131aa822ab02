/// The measurements of a benchmark: the limits of the machine, both sides of a trial, one class per kind of test, and
/// the results.
@NullMarked
package io.rdmacomm.cli.bench.trial;

import org.jspecify.annotations.NullMarked;
