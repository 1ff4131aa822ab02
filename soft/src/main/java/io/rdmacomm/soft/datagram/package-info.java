/// Datagrams over UDP, between hosts and within one.
@NullMarked
package io.rdmacomm.soft.datagram;

import org.jspecify.annotations.NullMarked;
