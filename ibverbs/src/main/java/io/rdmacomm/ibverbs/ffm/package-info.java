/// The C side of the verbs: symbols, function pointers, struct layouts and errno. The only package that makes
/// native calls; it handles addresses and numbers, but no objects.
@NullMarked
package io.rdmacomm.ibverbs.ffm;

import org.jspecify.annotations.NullMarked;
