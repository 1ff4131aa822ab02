/// Small complete programs that use the public API, to read and to copy from. Each class with a `main` runs without
/// hardware and without arguments; start reading there.
@NullMarked
package io.rdmacomm.examples;

import org.jspecify.annotations.NullMarked;
