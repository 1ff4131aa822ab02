/// librdmacm's vocabulary as Java types: connections by address, with private data, instead of exchanged numbers.
/// iWARP devices can only connect this way.
///
/// Version 1.0 freezes it, and it changes as [io.rdmacomm.verbs] does: every enum may get constants, and
/// [ConnectionException] may get
/// subclasses, so a `switch` over them needs a `default`.
@NullMarked
package io.rdmacomm.verbs.cm;

import org.jspecify.annotations.NullMarked;
