/// Measures rdmacomm and other libraries alternately on one machine: `compare/run`.
@NullMarked
package io.rdmacomm.compare;

import org.jspecify.annotations.NullMarked;
