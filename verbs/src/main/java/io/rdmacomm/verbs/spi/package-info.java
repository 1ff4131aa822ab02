/// What a provider of devices implements; it is found by [java.util.ServiceLoader] and named by nobody.
@NullMarked
package io.rdmacomm.verbs.spi;

import org.jspecify.annotations.NullMarked;
