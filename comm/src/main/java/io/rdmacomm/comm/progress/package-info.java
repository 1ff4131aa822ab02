/// Progress: completion queues, the threads that poll them, and the ways to wait. A
/// [io.rdmacomm.comm.progress.CompletionGroup] dispatches completions to its members and knows nothing else of
/// them.
@NullMarked
package io.rdmacomm.comm.progress;

import org.jspecify.annotations.NullMarked;
