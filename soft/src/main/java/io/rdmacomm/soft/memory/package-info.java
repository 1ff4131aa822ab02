/// Registered memory: regions, windows and keys of a context, the scatter/gather elements of its requests, and
/// copies between them. Knows no transport.
@NullMarked
package io.rdmacomm.soft.memory;

import org.jspecify.annotations.NullMarked;
