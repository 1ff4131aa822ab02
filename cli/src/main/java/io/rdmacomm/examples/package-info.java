/// Small complete programs that use the public API, to read and to copy from. Each runs without hardware and without
/// arguments.
@NullMarked
package io.rdmacomm.examples;

import org.jspecify.annotations.NullMarked;
