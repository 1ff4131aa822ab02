/// Untrusted text.
@NullMarked
package io.rdmacomm.verbs.text;

import org.jspecify.annotations.NullMarked;
