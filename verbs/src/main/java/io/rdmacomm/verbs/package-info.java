/// libibverbs' vocabulary as Java types: devices, protection domains, memory regions, queue pairs, completion
/// queues. Argument checks, the state table, lifetime and queue depth are implemented here for all providers.
@NullMarked
package io.rdmacomm.verbs;

import org.jspecify.annotations.NullMarked;
