/// Setting an endpoint up: the TCP connection with its frames, and the ways to connect queue pairs. Failures
/// are [io.rdmacomm.comm.setup.SetupException]s, which the session translates into public exceptions.
@NullMarked
package io.rdmacomm.comm.setup;

import org.jspecify.annotations.NullMarked;
