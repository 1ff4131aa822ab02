/// The verbs objects of an open device, one class for each C struct of libibverbs.
///
/// A driver that needs more than these classes do has a package of its own, beside this one.
@NullMarked
package io.rdmacomm.ibverbs.objects;

import org.jspecify.annotations.NullMarked;
