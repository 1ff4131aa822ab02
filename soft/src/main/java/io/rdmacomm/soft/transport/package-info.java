/// The interface between a queue pair and what carries its requests: [io.rdmacomm.soft.transport.Transport] with
/// the queues, completions, retries and engine that every transport needs. Knows no transport in particular.
@NullMarked
package io.rdmacomm.soft.transport;

import org.jspecify.annotations.NullMarked;
