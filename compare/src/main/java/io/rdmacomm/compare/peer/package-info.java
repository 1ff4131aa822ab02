/// Programs for the comparison: the same work as `rdmacomm bench`, by sockets, pipes, Netty and Aeron.
@NullMarked
package io.rdmacomm.compare.peer;

import org.jspecify.annotations.NullMarked;
