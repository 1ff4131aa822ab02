/// The verbs objects of an open device, one class for each C struct of libibverbs.
///
/// Drivers that need more have their own classes in other packages.
@NullMarked
package io.rdmacomm.ibverbs.objects;

import org.jspecify.annotations.NullMarked;
