/// The life cycle of an endpoint, and the reports of what fails in it. It does not depend on sessions and
/// channels.
@NullMarked
package io.rdmacomm.comm.endpoint;

import org.jspecify.annotations.NullMarked;
