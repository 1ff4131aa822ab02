/// The seam between a queue pair and what carries its requests: [io.rdmacomm.soft.transport.Transport] with the
/// queues, the completions, the retries and the engine that every transport needs. Knows no transport in particular.
@NullMarked
package io.rdmacomm.soft.transport;

import org.jspecify.annotations.NullMarked;
