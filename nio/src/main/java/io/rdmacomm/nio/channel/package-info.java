/// Channels, sockets and selectors with the rules of `java.nio.channels`, over rsockets.
@NullMarked
package io.rdmacomm.nio.channel;

import org.jspecify.annotations.NullMarked;
