@NullMarked
package io.rdmacomm.verbs.host;

import org.jspecify.annotations.NullMarked;
