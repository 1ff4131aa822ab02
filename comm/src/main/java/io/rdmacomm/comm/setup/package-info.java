/// Setting an endpoint up: the TCP connection with its frames, and the ways to connect queue pairs. What fails
/// is a [io.rdmacomm.comm.setup.SetUpException]; the session makes one of its public exceptions of it.
@NullMarked
package io.rdmacomm.comm.setup;

import org.jspecify.annotations.NullMarked;
