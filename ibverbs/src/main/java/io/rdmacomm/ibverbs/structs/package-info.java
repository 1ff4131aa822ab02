/// Translation between C and the types of verbs: structs, socket addresses, errno values and deadlines.
@NullMarked
package io.rdmacomm.ibverbs.structs;

import org.jspecify.annotations.NullMarked;
