/// The life cycle of an endpoint.
@NullMarked
package io.rdmacomm.comm.endpoint;

import org.jspecify.annotations.NullMarked;
