/// The verbs objects of an open device, one class for each C struct of libibverbs.
///
/// Classes for drivers that need more than these do are in other packages, beside this one.
@NullMarked
package io.rdmacomm.ibverbs.objects;

import org.jspecify.annotations.NullMarked;
