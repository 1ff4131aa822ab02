/// Progress: completion queues, the threads that poll them, and the ways to wait. A
/// [io.rdmacomm.comm.progress.CompletionGroup] only dispatches completions to its members.
@NullMarked
package io.rdmacomm.comm.progress;

import org.jspecify.annotations.NullMarked;
