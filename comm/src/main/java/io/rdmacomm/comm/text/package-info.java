/// Text that others have written.
@NullMarked
package io.rdmacomm.comm.text;

import org.jspecify.annotations.NullMarked;
