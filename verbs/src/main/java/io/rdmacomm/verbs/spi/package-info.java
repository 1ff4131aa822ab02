/// The interface that a provider of devices implements and [java.util.ServiceLoader] finds.
@NullMarked
package io.rdmacomm.verbs.spi;

import org.jspecify.annotations.NullMarked;
