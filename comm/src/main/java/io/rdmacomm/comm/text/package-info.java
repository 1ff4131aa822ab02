/// Untrusted text.
@NullMarked
package io.rdmacomm.comm.text;

import org.jspecify.annotations.NullMarked;
