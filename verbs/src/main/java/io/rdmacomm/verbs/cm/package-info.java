/// librdmacm's vocabulary as Java types: connections by address, with private data, instead of exchanged numbers.
/// iWARP devices can only connect this way.
@NullMarked
package io.rdmacomm.verbs.cm;

import org.jspecify.annotations.NullMarked;
