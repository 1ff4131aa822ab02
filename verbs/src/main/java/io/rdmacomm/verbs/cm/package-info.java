/// The vocabulary of librdmacm: connections found by address, with private data, instead of by exchanged numbers.
/// The only way to connect on iWARP devices.
@NullMarked
package io.rdmacomm.verbs.cm;

import org.jspecify.annotations.NullMarked;
