/// Measures rdmacomm and other libraries alternately on one machine: `bench/compare`.
@NullMarked
package io.rdmacomm.bench;

import org.jspecify.annotations.NullMarked;
